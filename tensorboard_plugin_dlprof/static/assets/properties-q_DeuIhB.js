/*! Contains Preact, MIT License, (c) 2015-present Jason Miller, https://github.com/preactjs/preact */
<<<<<<<< HEAD:tensorboard_plugin_dlprof/static/assets/properties-kkHZWWGn.js
import{ii as e}from"./frame-D6_KsvxL.js";var t=({rows:t})=>e(`dl`,{class:`properties`,children:t.map(([t,n])=>e(`div`,{children:[e(`dt`,{children:t}),e(`dd`,{children:n})]},t))});export{t};
========
import{ri as e}from"./frame-Dx6NaPLM.js";var t=({rows:t})=>e(`dl`,{class:`properties`,children:t.map(([t,n])=>e(`div`,{children:[e(`dt`,{children:t}),e(`dd`,{children:n})]},t))});export{t};
>>>>>>>> 2cb8c741 (Name the largest changes in program order first, and put 0 and the whole change beside the chart):tensorboard_plugin_dlprof/static/assets/properties-q_DeuIhB.js
