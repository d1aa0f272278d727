/*! Contains Preact, MIT License, (c) 2015-present Jason Miller, https://github.com/preactjs/preact */
<<<<<<<< HEAD:tensorboard_plugin_dlprof/static/assets/properties-BsRFB_u-.js
import{$r as e}from"./frame-BO2-R3D7.js";var t=({rows:t})=>e(`dl`,{class:`properties`,children:t.map(([t,n])=>e(`div`,{children:[e(`dt`,{children:t}),e(`dd`,{children:n})]},t))});export{t};
========
import{Zr as e}from"./frame-Iz8czwrP.js";var t=({rows:t})=>e(`dl`,{class:`properties`,children:t.map(([t,n])=>e(`div`,{children:[e(`dt`,{children:t}),e(`dd`,{children:n})]},t))});export{t};
>>>>>>>> fe4a3016 (Show findings' places and paths in full on narrow pages, bars of groups on wide ones, and no buttons on the graph's nodes):tensorboard_plugin_dlprof/static/assets/properties-CxFyOyIT.js
