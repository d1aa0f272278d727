/*! Contains Preact, MIT License, (c) 2015-present Jason Miller, https://github.com/preactjs/preact */
<<<<<<<< HEAD:tensorboard_plugin_dlprof/static/assets/hint-BLWM7Z09.js
import{hi as e,mi as t}from"./frame-DB3EPwdN.js";function n({title:n,text:r}){return e(`section`,{class:`hint`,"aria-label":n,children:[e(t,{name:`pointer`}),e(`p`,{children:[e(`strong`,{children:n}),` `,e(`span`,{children:r})]})]})}export{n as t};
========
import{hi as e,mi as t}from"./frame-OjV3JzjF.js";function n({title:n,text:r}){return e(`section`,{class:`hint`,"aria-label":n,children:[e(t,{name:`pointer`}),e(`p`,{children:[e(`strong`,{children:n}),` `,e(`span`,{children:r})]})]})}export{n as t};
>>>>>>>> ee237ba5 (Let the HTML report tell the time in question where no gain is known, one throughput, and what was not recorded, as the Dashboard does):tensorboard_plugin_dlprof/static/assets/hint-CVtI7ARm.js
