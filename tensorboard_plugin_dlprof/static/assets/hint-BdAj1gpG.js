/*! Contains Preact, MIT License, (c) 2015-present Jason Miller, https://github.com/preactjs/preact */
<<<<<<<< HEAD:tensorboard_plugin_dlprof/static/assets/hint-D5FM_tfy.js
import{ai as e,oi as t}from"./frame-C-nBnmvj.js";function n({title:n,text:r}){return t(`section`,{class:`hint`,"aria-label":n,children:[t(e,{name:`pointer`}),t(`p`,{children:[t(`strong`,{children:n}),` `,t(`span`,{children:r})]})]})}export{n as t};
========
import{ci as e,li as t}from"./frame-DLL_SjyU.js";function n({title:n,text:r}){return t(`section`,{class:`hint`,"aria-label":n,children:[t(e,{name:`pointer`}),t(`p`,{children:[t(`strong`,{children:n}),` `,t(`span`,{children:r})]})]})}export{n as t};
>>>>>>>> 5c46f95b (Say on the Dashboard what a gain that is not known is about, which causes a part has, one throughput and one idle, and show a snapshot's curve; findings take half of the height):tensorboard_plugin_dlprof/static/assets/hint-DOnamE1k.js
