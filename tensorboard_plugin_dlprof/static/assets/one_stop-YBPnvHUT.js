/*! Contains Preact, MIT License, (c) 2015-present Jason Miller, https://github.com/preactjs/preact */
<<<<<<<< HEAD:tensorboard_plugin_dlprof/static/assets/one_stop-CunTLAvg.js
import{Zr as e,en as t}from"./frame-wk0hzjD6.js";function n({children:n}){return e(`div`,{class:`one-stop`,...t(),children:n})}export{n as t};
========
import{Kr as e,en as t}from"./frame-DBkYt821.js";function n({children:n}){return e(`div`,{class:`one-stop`,...t(),children:n})}export{n as t};
>>>>>>>> 35bb3b7f (Call processes by one number on the page of a job, and the rank that the sentence names by its cost):tensorboard_plugin_dlprof/static/assets/one_stop-YBPnvHUT.js
