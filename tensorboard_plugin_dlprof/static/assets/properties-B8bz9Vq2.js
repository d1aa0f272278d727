/*! Contains Preact, MIT License, (c) 2015-present Jason Miller, https://github.com/preactjs/preact */
<<<<<<<< HEAD:tensorboard_plugin_dlprof/static/assets/properties-cIvGwlPB.js
import{$r as e}from"./frame-D4opqbQX.js";var t=({rows:t})=>e(`dl`,{class:`properties`,children:t.map(([t,n])=>e(`div`,{children:[e(`dt`,{children:t}),e(`dd`,{children:n})]},t))});export{t};
========
import{ei as e}from"./frame-Bz3kt4NM.js";var t=({rows:t})=>e(`dl`,{class:`properties`,children:t.map(([t,n])=>e(`div`,{children:[e(`dt`,{children:t}),e(`dd`,{children:n})]},t))});export{t};
>>>>>>>> 674cb83b (Say what is under the pointer on dense tracks and curves, tell moments on the timeline as tables do, and fold what old recordings do not tell of memory):tensorboard_plugin_dlprof/static/assets/properties-B8bz9Vq2.js
