/*! Contains Preact, MIT License, (c) 2015-present Jason Miller, https://github.com/preactjs/preact */
<<<<<<<< HEAD:tensorboard_plugin_dlprof/static/assets/hint-B2Rddq6F.js
import{Xr as e,Zr as t}from"./frame-wk0hzjD6.js";function n({title:n,text:r}){return t(`section`,{class:`hint`,"aria-label":n,children:[t(e,{name:`pointer`}),t(`p`,{children:[t(`strong`,{children:n}),` `,t(`span`,{children:r})]})]})}export{n as t};
========
import{Gr as e,Kr as t}from"./frame-DBkYt821.js";function n({title:n,text:r}){return t(`section`,{class:`hint`,"aria-label":n,children:[t(e,{name:`pointer`}),t(`p`,{children:[t(`strong`,{children:n}),` `,t(`span`,{children:r})]})]})}export{n as t};
>>>>>>>> 35bb3b7f (Call processes by one number on the page of a job, and the rank that the sentence names by its cost):tensorboard_plugin_dlprof/static/assets/hint-C9Nc2PGj.js
