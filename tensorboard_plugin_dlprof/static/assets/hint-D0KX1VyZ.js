/*! Contains Preact, MIT License, (c) 2015-present Jason Miller, https://github.com/preactjs/preact */
<<<<<<<< HEAD:tensorboard_plugin_dlprof/static/assets/hint-BoKB2uiE.js
import{$r as e,Qr as t}from"./frame-2TTGcyQJ.js";function n({title:n,text:r}){return e(`section`,{class:`hint`,"aria-label":n,children:[e(t,{name:`pointer`}),e(`p`,{children:[e(`strong`,{children:n}),` `,e(`span`,{children:r})]})]})}export{n as t};
========
import{$r as e,Qr as t}from"./frame-Cet8kinP.js";function n({title:n,text:r}){return e(`section`,{class:`hint`,"aria-label":n,children:[e(t,{name:`pointer`}),e(`p`,{children:[e(`strong`,{children:n}),` `,e(`span`,{children:r})]})]})}export{n as t};
>>>>>>>> 6ae9d0fa (Say in the headline that two programs differ, of what the strip's Tensor Core share is, and that gains are upper bounds):tensorboard_plugin_dlprof/static/assets/hint-D0KX1VyZ.js
