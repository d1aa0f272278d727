/*! Contains Preact, MIT License, (c) 2015-present Jason Miller, https://github.com/preactjs/preact */
<<<<<<<< HEAD:tensorboard_plugin_dlprof/static/assets/properties-B59jrPwi.js
import{$r as e}from"./frame-BP3X45YZ.js";var t=({rows:t})=>e(`dl`,{class:`properties`,children:t.map(([t,n])=>e(`div`,{children:[e(`dt`,{children:t}),e(`dd`,{children:n})]},t))});export{t};
========
import{Zr as e}from"./frame-BfWpCLux.js";var t=({rows:t})=>e(`dl`,{class:`properties`,children:t.map(([t,n])=>e(`div`,{children:[e(`dt`,{children:t}),e(`dd`,{children:n})]},t))});export{t};
>>>>>>>> d9932dd2 (GPUs and Ranks: say of what each share is, fold what is unknown or idle, and call processes so; open lists at the head of a run):tensorboard_plugin_dlprof/static/assets/properties-OSaA7UoS.js
