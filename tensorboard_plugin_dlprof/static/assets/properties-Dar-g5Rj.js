/*! Contains Preact, MIT License, (c) 2015-present Jason Miller, https://github.com/preactjs/preact */
<<<<<<<< HEAD:tensorboard_plugin_dlprof/static/assets/properties-CuIP8qdd.js
import{oi as e}from"./frame-C-nBnmvj.js";var t=({rows:t})=>e(`dl`,{class:`properties`,children:t.map(([t,n])=>e(`div`,{children:[e(`dt`,{children:t}),e(`dd`,{children:n})]},t))});export{t};
========
import{li as e}from"./frame-DLL_SjyU.js";var t=({rows:t})=>e(`dl`,{class:`properties`,children:t.map(([t,n])=>e(`div`,{children:[e(`dt`,{children:t}),e(`dd`,{children:n})]},t))});export{t};
>>>>>>>> 5c46f95b (Say on the Dashboard what a gain that is not known is about, which causes a part has, one throughput and one idle, and show a snapshot's curve; findings take half of the height):tensorboard_plugin_dlprof/static/assets/properties-BcT1QlnE.js
