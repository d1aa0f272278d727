/*! Contains Preact, MIT License, (c) 2015-present Jason Miller, https://github.com/preactjs/preact */
<<<<<<<< HEAD:tensorboard_plugin_dlprof/static/assets/properties-D-DdiRiZ.js
import{vi as e}from"./frame-C9oUPDhs.js";var t=({rows:t})=>e(`dl`,{class:`properties`,children:t.map(([t,n])=>e(`div`,{children:[e(`dt`,{children:t}),e(`dd`,{children:n})]},t))});export{t};
========
import{yi as e}from"./frame-Add6WB_i.js";var t=({rows:t})=>e(`dl`,{class:`properties`,children:t.map(([t,n])=>e(`div`,{children:[e(`dt`,{children:t}),e(`dd`,{children:n})]},t))});export{t};
>>>>>>>> ac43cf09 (Leave the wait for other ranks out of what hiding communication could gain, once the job was compared; and show severity only where no gain says how much a finding matters):tensorboard_plugin_dlprof/static/assets/properties-DYzlfItH.js
