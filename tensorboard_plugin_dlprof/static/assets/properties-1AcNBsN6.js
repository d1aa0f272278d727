/*! Contains Preact, MIT License, (c) 2015-present Jason Miller, https://github.com/preactjs/preact */
<<<<<<<< HEAD:tensorboard_plugin_dlprof/static/assets/properties-1AcNBsN6.js
import{ii as e}from"./frame-DSGJCLhM.js";var t=({rows:t})=>e(`dl`,{class:`properties`,children:t.map(([t,n])=>e(`div`,{children:[e(`dt`,{children:t}),e(`dd`,{children:n})]},t))});export{t};
========
import{ii as e}from"./frame-CcN-1ytZ.js";var t=({rows:t})=>e(`dl`,{class:`properties`,children:t.map(([t,n])=>e(`div`,{children:[e(`dt`,{children:t}),e(`dd`,{children:n})]},t))});export{t};
>>>>>>>> a224b117 (The graph of modules opens what takes most time, with boxes as wide as their names, in a canvas as high as it):tensorboard_plugin_dlprof/static/assets/properties-DqGpxJFk.js
