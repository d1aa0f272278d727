/*! Contains Preact, MIT License, (c) 2015-present Jason Miller, https://github.com/preactjs/preact */
<<<<<<<< HEAD:tensorboard_plugin_dlprof/static/assets/one_stop-CIYW9DPn.js
import{$r as e,en as t}from"./frame-BP3X45YZ.js";function n({children:n}){return e(`div`,{class:`one-stop`,...t(),children:n})}export{n as t};
========
import{Zr as e,en as t}from"./frame-BfWpCLux.js";function n({children:n}){return e(`div`,{class:`one-stop`,...t(),children:n})}export{n as t};
>>>>>>>> d9932dd2 (GPUs and Ranks: say of what each share is, fold what is unknown or idle, and call processes so; open lists at the head of a run):tensorboard_plugin_dlprof/static/assets/one_stop-CnzEUNT8.js
