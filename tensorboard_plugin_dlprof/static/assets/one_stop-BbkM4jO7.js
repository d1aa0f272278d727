/*! Contains Preact, MIT License, (c) 2015-present Jason Miller, https://github.com/preactjs/preact */
<<<<<<<< HEAD:tensorboard_plugin_dlprof/static/assets/one_stop-BbkM4jO7.js
import{Gr as e,en as t}from"./frame-BBnc1zoU.js";function n({children:n}){return e(`div`,{class:`one-stop`,...t(),children:n})}export{n as t};
========
import{Kr as e,en as t}from"./frame-B48xpqbp.js";function n({children:n}){return e(`div`,{class:`one-stop`,...t(),children:n})}export{n as t};
>>>>>>>> 69feaedb (Compare: one number in the headline, names beside A and B, no colour for noise, and profiles of the same program first in the list):tensorboard_plugin_dlprof/static/assets/one_stop-QYCKbJcR.js
