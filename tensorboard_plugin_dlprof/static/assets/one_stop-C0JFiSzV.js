/*! Contains Preact, MIT License, (c) 2015-present Jason Miller, https://github.com/preactjs/preact */
<<<<<<<< HEAD:tensorboard_plugin_dlprof/static/assets/one_stop-DBkXW670.js
import{Zr as e,en as t}from"./frame-BinALfQ2.js";function n({children:n}){return e(`div`,{class:`one-stop`,...t(),children:n})}export{n as t};
========
import{Zr as e,en as t}from"./frame-Cz4ok3BM.js";function n({children:n}){return e(`div`,{class:`one-stop`,...t(),children:n})}export{n as t};
>>>>>>>> 20eb49d3 (Build the pages):tensorboard_plugin_dlprof/static/assets/one_stop-C0JFiSzV.js
