/*! Contains Preact, MIT License, (c) 2015-present Jason Miller, https://github.com/preactjs/preact */
<<<<<<<< HEAD:tensorboard_plugin_dlprof/static/assets/properties-CUYVwPTq.js
import{vi as e}from"./frame-p6jByh2e.js";var t=({rows:t})=>e(`dl`,{class:`properties`,children:t.map(([t,n])=>e(`div`,{children:[e(`dt`,{children:t}),e(`dd`,{children:n})]},t))});export{t};
========
import{hi as e}from"./frame-CsjKuSBh.js";var t=({rows:t})=>e(`dl`,{class:`properties`,children:t.map(([t,n])=>e(`div`,{children:[e(`dt`,{children:t}),e(`dd`,{children:n})]},t))});export{t};
>>>>>>>> 8b76c0ea (Show the whole problem where few findings leave room, and do not break names of options; the README says iteration, too):tensorboard_plugin_dlprof/static/assets/properties-C7RI-6uR.js
