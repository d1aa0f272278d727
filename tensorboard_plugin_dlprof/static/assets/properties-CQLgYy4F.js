/*! Contains Preact, MIT License, (c) 2015-present Jason Miller, https://github.com/preactjs/preact */
<<<<<<<< HEAD:tensorboard_plugin_dlprof/static/assets/properties-CQLgYy4F.js
import{Kr as e}from"./frame-BJyx3Rh6.js";var t=({rows:t})=>e(`dl`,{class:`properties`,children:t.map(([t,n])=>e(`div`,{children:[e(`dt`,{children:t}),e(`dd`,{children:n})]},t))});export{t};
========
import{Gr as e}from"./frame-W8SvHoTQ.js";var t=({rows:t})=>e(`dl`,{class:`properties`,children:t.map(([t,n])=>e(`div`,{children:[e(`dt`,{children:t}),e(`dd`,{children:n})]},t))});export{t};
>>>>>>>> a2ef90e7 (Compare the processes of one report from the page, too):tensorboard_plugin_dlprof/static/assets/properties-erW_n3ik.js
