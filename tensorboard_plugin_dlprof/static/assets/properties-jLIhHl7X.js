/*! Contains Preact, MIT License, (c) 2015-present Jason Miller, https://github.com/preactjs/preact */
<<<<<<<< HEAD:tensorboard_plugin_dlprof/static/assets/properties-DLPJ5XMz.js
import{hi as e}from"./frame-Bp3n-VX7.js";var t=({rows:t})=>e(`dl`,{class:`properties`,children:t.map(([t,n])=>e(`div`,{children:[e(`dt`,{children:t}),e(`dd`,{children:n})]},t))});export{t};
========
import{hi as e}from"./frame-DESd_CGl.js";var t=({rows:t})=>e(`dl`,{class:`properties`,children:t.map(([t,n])=>e(`div`,{children:[e(`dt`,{children:t}),e(`dd`,{children:n})]},t))});export{t};
>>>>>>>> 9b509d15 (Few tab stops stand before the rows of GPUs, and what unfolds is large enough to be hit):tensorboard_plugin_dlprof/static/assets/properties-jLIhHl7X.js
