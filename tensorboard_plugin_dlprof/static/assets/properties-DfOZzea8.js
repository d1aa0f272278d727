/*! Contains Preact, MIT License, (c) 2015-present Jason Miller, https://github.com/preactjs/preact */
<<<<<<<< HEAD:tensorboard_plugin_dlprof/static/assets/properties-AgTPods6.js
import{ga as e}from"./frame-ifaya8Uv.js";var t=({rows:t})=>e(`dl`,{class:`properties`,children:t.map(([t,n])=>e(`div`,{children:[e(`dt`,{children:t}),e(`dd`,{children:n})]},t))});export{t};
========
import{ma as e}from"./frame-BBgRPp1n.js";var t=({rows:t})=>e(`dl`,{class:`properties`,children:t.map(([t,n])=>e(`div`,{children:[e(`dt`,{children:t}),e(`dd`,{children:n})]},t))});export{t};
>>>>>>>> af354541 (Tell an iteration under the pointer to the nanosecond, in a card that leaves its neighbours free; say what is longest):tensorboard_plugin_dlprof/static/assets/properties-BWC3WL9n.js
