/*! Contains Preact, MIT License, (c) 2015-present Jason Miller, https://github.com/preactjs/preact */
<<<<<<<< HEAD:tensorboard_plugin_dlprof/static/assets/hint-DfAQ_0aJ.js
import{Xr as e,Zr as t}from"./frame-BinALfQ2.js";function n({title:n,text:r}){return t(`section`,{class:`hint`,"aria-label":n,children:[t(e,{name:`pointer`}),t(`p`,{children:[t(`strong`,{children:n}),` `,t(`span`,{children:r})]})]})}export{n as t};
========
import{Xr as e,Zr as t}from"./frame-Cz4ok3BM.js";function n({title:n,text:r}){return t(`section`,{class:`hint`,"aria-label":n,children:[t(e,{name:`pointer`}),t(`p`,{children:[t(`strong`,{children:n}),` `,t(`span`,{children:r})]})]})}export{n as t};
>>>>>>>> 20eb49d3 (Build the pages):tensorboard_plugin_dlprof/static/assets/hint-CQ1TvyfK.js
