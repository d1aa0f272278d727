/*! Contains Preact, MIT License, (c) 2015-present Jason Miller, https://github.com/preactjs/preact */
<<<<<<<< HEAD:tensorboard_plugin_dlprof/static/assets/hint-Z2JAV_7V.js
import{Qi as e,Zi as t}from"./frame-DVpZ1mVo.js";function n({title:n,text:r}){return e(`section`,{class:`hint`,"aria-label":n,children:[e(t,{name:`pointer`}),e(`p`,{children:[e(`strong`,{children:n}),` `,e(`span`,{children:r})]})]})}export{n as t};
========
import{Xi as e,Yi as t}from"./frame-Dsmhpf9U.js";function n({title:n,text:r}){return e(`section`,{class:`hint`,"aria-label":n,children:[e(t,{name:`pointer`}),e(`p`,{children:[e(`strong`,{children:n}),` `,e(`span`,{children:r})]})]})}export{n as t};
>>>>>>>> b12e3f1b (Let a rank cost no more than others waited for it):tensorboard_plugin_dlprof/static/assets/hint-Cydoxjfr.js
