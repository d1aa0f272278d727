/*! Contains Preact, MIT License, (c) 2015-present Jason Miller, https://github.com/preactjs/preact */
<<<<<<<< HEAD:tensorboard_plugin_dlprof/static/assets/hint-BiKhFHCU.js
import{vi as e,yi as t}from"./frame-BFSgXJbc.js";function n({title:n,text:r}){return t(`section`,{class:`hint`,"aria-label":n,children:[t(e,{name:`pointer`}),t(`p`,{children:[t(`strong`,{children:n}),` `,t(`span`,{children:r})]})]})}export{n as t};
========
import{vi as e,yi as t}from"./frame-8tseMcu0.js";function n({title:n,text:r}){return t(`section`,{class:`hint`,"aria-label":n,children:[t(e,{name:`pointer`}),t(`p`,{children:[t(`strong`,{children:n}),` `,t(`span`,{children:r})]})]})}export{n as t};
>>>>>>>> b852fb03 (Show what to do whole and the numbers of a problem on the Dashboard, set assignments as code, and say at the sums of its table how many iterations they are of):tensorboard_plugin_dlprof/static/assets/hint-Cdf45jOp.js
