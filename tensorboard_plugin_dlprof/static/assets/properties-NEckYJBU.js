/*! Contains Preact, MIT License, (c) 2015-present Jason Miller, https://github.com/preactjs/preact */
<<<<<<<< HEAD:tensorboard_plugin_dlprof/static/assets/properties-NEckYJBU.js
import{$r as e}from"./frame-2TTGcyQJ.js";var t=({rows:t})=>e(`dl`,{class:`properties`,children:t.map(([t,n])=>e(`div`,{children:[e(`dt`,{children:t}),e(`dd`,{children:n})]},t))});export{t};
========
import{$r as e}from"./frame-Cet8kinP.js";var t=({rows:t})=>e(`dl`,{class:`properties`,children:t.map(([t,n])=>e(`div`,{children:[e(`dt`,{children:t}),e(`dd`,{children:n})]},t))});export{t};
>>>>>>>> 6ae9d0fa (Say in the headline that two programs differ, of what the strip's Tensor Core share is, and that gains are upper bounds):tensorboard_plugin_dlprof/static/assets/properties-C56WrDhv.js
