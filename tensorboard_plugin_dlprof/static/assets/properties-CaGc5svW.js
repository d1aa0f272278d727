/*! Contains Preact, MIT License, (c) 2015-present Jason Miller, https://github.com/preactjs/preact */
<<<<<<<< HEAD:tensorboard_plugin_dlprof/static/assets/properties-CaGc5svW.js
import{ai as e}from"./frame-BqXX1M3o.js";var t=({rows:t})=>e(`dl`,{class:`properties`,children:t.map(([t,n])=>e(`div`,{children:[e(`dt`,{children:t}),e(`dd`,{children:n})]},t))});export{t};
========
import{oi as e}from"./frame-D_ES_A6r.js";var t=({rows:t})=>e(`dl`,{class:`properties`,children:t.map(([t,n])=>e(`div`,{children:[e(`dt`,{children:t}),e(`dd`,{children:n})]},t))});export{t};
>>>>>>>> 5ff1f6c8 (Say of modules that stand apart from their like how many there are in all, and of a selected one what it could gain and what binds it):tensorboard_plugin_dlprof/static/assets/properties-BMWU_uOp.js
