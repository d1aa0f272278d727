/*! Contains Preact, MIT License, (c) 2015-present Jason Miller, https://github.com/preactjs/preact */
<<<<<<<< HEAD:tensorboard_plugin_dlprof/static/assets/one_stop-Bhsgzxvm.js
import{$r as e,en as t}from"./frame-D4opqbQX.js";function n({children:n}){return e(`div`,{class:`one-stop`,...t(),children:n})}export{n as t};
========
import{ei as e,en as t}from"./frame-Bz3kt4NM.js";function n({children:n}){return e(`div`,{class:`one-stop`,...t(),children:n})}export{n as t};
>>>>>>>> 674cb83b (Say what is under the pointer on dense tracks and curves, tell moments on the timeline as tables do, and fold what old recordings do not tell of memory):tensorboard_plugin_dlprof/static/assets/one_stop-CjELUx5E.js
