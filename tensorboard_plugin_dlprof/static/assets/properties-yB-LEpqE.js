/*! Contains Preact, MIT License, (c) 2015-present Jason Miller, https://github.com/preactjs/preact */
<<<<<<<< HEAD:tensorboard_plugin_dlprof/static/assets/properties-coqhHY4Y.js
import{Gr as e}from"./frame-BBnc1zoU.js";var t=({rows:t})=>e(`dl`,{class:`properties`,children:t.map(([t,n])=>e(`div`,{children:[e(`dt`,{children:t}),e(`dd`,{children:n})]},t))});export{t};
========
import{Kr as e}from"./frame-B48xpqbp.js";var t=({rows:t})=>e(`dl`,{class:`properties`,children:t.map(([t,n])=>e(`div`,{children:[e(`dt`,{children:t}),e(`dd`,{children:n})]},t))});export{t};
>>>>>>>> 69feaedb (Compare: one number in the headline, names beside A and B, no colour for noise, and profiles of the same program first in the list):tensorboard_plugin_dlprof/static/assets/properties-yB-LEpqE.js
