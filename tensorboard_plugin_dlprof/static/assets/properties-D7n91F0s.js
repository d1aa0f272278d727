/*! Contains Preact, MIT License, (c) 2015-present Jason Miller, https://github.com/preactjs/preact */
<<<<<<<< HEAD:tensorboard_plugin_dlprof/static/assets/properties-D7n91F0s.js
import{ii as e}from"./frame-CTzlHFaM.js";var t=({rows:t})=>e(`dl`,{class:`properties`,children:t.map(([t,n])=>e(`div`,{children:[e(`dt`,{children:t}),e(`dd`,{children:n})]},t))});export{t};
========
import{ni as e}from"./frame-BHLcyC3m.js";var t=({rows:t})=>e(`dl`,{class:`properties`,children:t.map(([t,n])=>e(`div`,{children:[e(`dt`,{children:t}),e(`dd`,{children:n})]},t))});export{t};
>>>>>>>> 61895388 (Name collectives in DLProf's classes of kernels, sort groups of unknown gain by their time, and say that an op's GPU time is of all calls):tensorboard_plugin_dlprof/static/assets/properties-DLvJgRjp.js
