/*! Contains Preact, MIT License, (c) 2015-present Jason Miller, https://github.com/preactjs/preact */
<<<<<<<< HEAD:tensorboard_plugin_dlprof/static/assets/properties-NF-B8RkN.js
import{Zr as e}from"./frame-DQ_GJK5g.js";var t=({rows:t})=>e(`dl`,{class:`properties`,children:t.map(([t,n])=>e(`div`,{children:[e(`dt`,{children:t}),e(`dd`,{children:n})]},t))});export{t};
========
import{Xr as e}from"./frame-DI4a5_yg.js";var t=({rows:t})=>e(`dl`,{class:`properties`,children:t.map(([t,n])=>e(`div`,{children:[e(`dt`,{children:t}),e(`dd`,{children:n})]},t))});export{t};
>>>>>>>> 48858941 (Order findings alike on Dashboard and Recommendations, give the only iteration its room, and keep the HTML report to the words and units of the pages):tensorboard_plugin_dlprof/static/assets/properties-ChpRWP6D.js
