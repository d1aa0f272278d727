/*! Contains Preact, MIT License, (c) 2015-present Jason Miller, https://github.com/preactjs/preact */
<<<<<<<< HEAD:tensorboard_plugin_dlprof/static/assets/properties-NF-B8RkN.js
import{Zr as e}from"./frame-DQ_GJK5g.js";var t=({rows:t})=>e(`dl`,{class:`properties`,children:t.map(([t,n])=>e(`div`,{children:[e(`dt`,{children:t}),e(`dd`,{children:n})]},t))});export{t};
========
import{Xr as e}from"./frame-CsaCOfWw.js";var t=({rows:t})=>e(`dl`,{class:`properties`,children:t.map(([t,n])=>e(`div`,{children:[e(`dt`,{children:t}),e(`dd`,{children:n})]},t))});export{t};
>>>>>>>> 17bbcc7d (Begin with a gap of the window, and say an 823 µs step):tensorboard_plugin_dlprof/static/assets/properties-BTANWxS5.js
