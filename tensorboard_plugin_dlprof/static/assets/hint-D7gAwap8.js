/*! Contains Preact, MIT License, (c) 2015-present Jason Miller, https://github.com/preactjs/preact */
<<<<<<<< HEAD:tensorboard_plugin_dlprof/static/assets/hint-B5-dCvVc.js
import{hi as e,mi as t}from"./frame-Bp3n-VX7.js";function n({title:n,text:r}){return e(`section`,{class:`hint`,"aria-label":n,children:[e(t,{name:`pointer`}),e(`p`,{children:[e(`strong`,{children:n}),` `,e(`span`,{children:r})]})]})}export{n as t};
========
import{hi as e,mi as t}from"./frame-DESd_CGl.js";function n({title:n,text:r}){return e(`section`,{class:`hint`,"aria-label":n,children:[e(t,{name:`pointer`}),e(`p`,{children:[e(`strong`,{children:n}),` `,e(`span`,{children:r})]})]})}export{n as t};
>>>>>>>> 9b509d15 (Few tab stops stand before the rows of GPUs, and what unfolds is large enough to be hit):tensorboard_plugin_dlprof/static/assets/hint-D7gAwap8.js
