/*! Contains Preact, MIT License, (c) 2015-present Jason Miller, https://github.com/preactjs/preact */
<<<<<<<< HEAD:tensorboard_plugin_dlprof/static/assets/properties-B_nEWxvq.js
import{Zr as e}from"./frame-CWAOnKpY.js";var t=({rows:t})=>e(`dl`,{class:`properties`,children:t.map(([t,n])=>e(`div`,{children:[e(`dt`,{children:t}),e(`dd`,{children:n})]},t))});export{t};
========
import{$r as e}from"./frame-D_SdDgU_.js";var t=({rows:t})=>e(`dl`,{class:`properties`,children:t.map(([t,n])=>e(`div`,{children:[e(`dt`,{children:t}),e(`dd`,{children:n})]},t))});export{t};
>>>>>>>> 5a811f85 (Join only runs of this program to a series, by their names; one card for memory snapshots on pages about time; names of ops as wide as they are):tensorboard_plugin_dlprof/static/assets/properties-DBg-ib7p.js
