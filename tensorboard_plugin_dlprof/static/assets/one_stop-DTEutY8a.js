/*! Contains Preact, MIT License, (c) 2015-present Jason Miller, https://github.com/preactjs/preact */
<<<<<<<< HEAD:tensorboard_plugin_dlprof/static/assets/one_stop-CpjreTJr.js
import{hi as e,ln as t}from"./frame-Bp3n-VX7.js";function n({children:n}){return e(`div`,{class:`one-stop`,...t(),children:n})}export{n as t};
========
import{hi as e,ln as t}from"./frame-DESd_CGl.js";function n({children:n}){return e(`div`,{class:`one-stop`,...t(),children:n})}export{n as t};
>>>>>>>> 9b509d15 (Few tab stops stand before the rows of GPUs, and what unfolds is large enough to be hit):tensorboard_plugin_dlprof/static/assets/one_stop-DTEutY8a.js
