/*! Contains Preact, MIT License, (c) 2015-present Jason Miller, https://github.com/preactjs/preact */
<<<<<<<< HEAD:tensorboard_plugin_dlprof/static/assets/hint-CaYYWoSj.js
import{ii as e,ri as t}from"./frame-CTzlHFaM.js";function n({title:n,text:r}){return e(`section`,{class:`hint`,"aria-label":n,children:[e(t,{name:`pointer`}),e(`p`,{children:[e(`strong`,{children:n}),` `,e(`span`,{children:r})]})]})}export{n as t};
========
import{ni as e,ti as t}from"./frame-BHLcyC3m.js";function n({title:n,text:r}){return e(`section`,{class:`hint`,"aria-label":n,children:[e(t,{name:`pointer`}),e(`p`,{children:[e(`strong`,{children:n}),` `,e(`span`,{children:r})]})]})}export{n as t};
>>>>>>>> 61895388 (Name collectives in DLProf's classes of kernels, sort groups of unknown gain by their time, and say that an op's GPU time is of all calls):tensorboard_plugin_dlprof/static/assets/hint-xvJlWBpJ.js
