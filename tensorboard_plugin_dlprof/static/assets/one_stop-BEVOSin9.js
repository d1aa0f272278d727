/*! Contains Preact, MIT License, (c) 2015-present Jason Miller, https://github.com/preactjs/preact */
<<<<<<<< HEAD:tensorboard_plugin_dlprof/static/assets/one_stop-CliuJddw.js
import{$r as e,en as t}from"./frame-BO2-R3D7.js";function n({children:n}){return e(`div`,{class:`one-stop`,...t(),children:n})}export{n as t};
========
import{Zr as e,en as t}from"./frame-Iz8czwrP.js";function n({children:n}){return e(`div`,{class:`one-stop`,...t(),children:n})}export{n as t};
>>>>>>>> fe4a3016 (Show findings' places and paths in full on narrow pages, bars of groups on wide ones, and no buttons on the graph's nodes):tensorboard_plugin_dlprof/static/assets/one_stop-BEVOSin9.js
