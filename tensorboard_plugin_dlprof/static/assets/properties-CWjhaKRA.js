/*! Contains Preact, MIT License, (c) 2015-present Jason Miller, https://github.com/preactjs/preact */
<<<<<<<< HEAD:tensorboard_plugin_dlprof/static/assets/properties-CWjhaKRA.js
import{hi as e}from"./frame-DB3EPwdN.js";var t=({rows:t})=>e(`dl`,{class:`properties`,children:t.map(([t,n])=>e(`div`,{children:[e(`dt`,{children:t}),e(`dd`,{children:n})]},t))});export{t};
========
import{hi as e}from"./frame-OjV3JzjF.js";var t=({rows:t})=>e(`dl`,{class:`properties`,children:t.map(([t,n])=>e(`div`,{children:[e(`dt`,{children:t}),e(`dd`,{children:n})]},t))});export{t};
>>>>>>>> ee237ba5 (Let the HTML report tell the time in question where no gain is known, one throughput, and what was not recorded, as the Dashboard does):tensorboard_plugin_dlprof/static/assets/properties-z5uUNp-T.js
