/*! Contains Preact, MIT License, (c) 2015-present Jason Miller, https://github.com/preactjs/preact */
<<<<<<<< HEAD:tensorboard_plugin_dlprof/static/assets/properties-B3_jUJ_0.js
import{yi as e}from"./frame-BFSgXJbc.js";var t=({rows:t})=>e(`dl`,{class:`properties`,children:t.map(([t,n])=>e(`div`,{children:[e(`dt`,{children:t}),e(`dd`,{children:n})]},t))});export{t};
========
import{yi as e}from"./frame-8tseMcu0.js";var t=({rows:t})=>e(`dl`,{class:`properties`,children:t.map(([t,n])=>e(`div`,{children:[e(`dt`,{children:t}),e(`dd`,{children:n})]},t))});export{t};
>>>>>>>> b852fb03 (Show what to do whole and the numbers of a problem on the Dashboard, set assignments as code, and say at the sums of its table how many iterations they are of):tensorboard_plugin_dlprof/static/assets/properties-CsVYfpXP.js
