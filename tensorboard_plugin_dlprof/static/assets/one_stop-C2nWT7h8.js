/*! Contains Preact, MIT License, (c) 2015-present Jason Miller, https://github.com/preactjs/preact */
<<<<<<<< HEAD:tensorboard_plugin_dlprof/static/assets/one_stop-C99fqK7m.js
import{Kr as e,en as t}from"./frame-BJyx3Rh6.js";function n({children:n}){return e(`div`,{class:`one-stop`,...t(),children:n})}export{n as t};
========
import{Gr as e,en as t}from"./frame-W8SvHoTQ.js";function n({children:n}){return e(`div`,{class:`one-stop`,...t(),children:n})}export{n as t};
>>>>>>>> a2ef90e7 (Compare the processes of one report from the page, too):tensorboard_plugin_dlprof/static/assets/one_stop-C2nWT7h8.js
