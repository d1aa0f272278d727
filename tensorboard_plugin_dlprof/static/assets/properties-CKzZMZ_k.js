/*! Contains Preact, MIT License, (c) 2015-present Jason Miller, https://github.com/preactjs/preact */
<<<<<<<< HEAD:tensorboard_plugin_dlprof/static/assets/properties-CBJvfd1h.js
import{ni as e}from"./frame-20oGwMQw.js";var t=({rows:t})=>e(`dl`,{class:`properties`,children:t.map(([t,n])=>e(`div`,{children:[e(`dt`,{children:t}),e(`dd`,{children:n})]},t))});export{t};
========
import{ti as e}from"./frame-Cs2q-71K.js";var t=({rows:t})=>e(`dl`,{class:`properties`,children:t.map(([t,n])=>e(`div`,{children:[e(`dt`,{children:t}),e(`dd`,{children:n})]},t))});export{t};
>>>>>>>> 27e63d03 (Say which runs of a series were too short to test, draw its axis from 0, and shorten the paths of evidence):tensorboard_plugin_dlprof/static/assets/properties-CKzZMZ_k.js
