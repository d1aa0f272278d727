/*! Contains Preact, MIT License, (c) 2015-present Jason Miller, https://github.com/preactjs/preact */
<<<<<<<< HEAD:tensorboard_plugin_dlprof/static/assets/properties-Bn57ycUv.js
import{Zr as e}from"./frame-wk0hzjD6.js";var t=({rows:t})=>e(`dl`,{class:`properties`,children:t.map(([t,n])=>e(`div`,{children:[e(`dt`,{children:t}),e(`dd`,{children:n})]},t))});export{t};
========
import{Kr as e}from"./frame-DBkYt821.js";var t=({rows:t})=>e(`dl`,{class:`properties`,children:t.map(([t,n])=>e(`div`,{children:[e(`dt`,{children:t}),e(`dd`,{children:n})]},t))});export{t};
>>>>>>>> 35bb3b7f (Call processes by one number on the page of a job, and the rank that the sentence names by its cost):tensorboard_plugin_dlprof/static/assets/properties-CkGzeIZL.js
