/*! Contains Preact, MIT License, (c) 2015-present Jason Miller, https://github.com/preactjs/preact */
<<<<<<<< HEAD:tensorboard_plugin_dlprof/static/assets/one_stop-BfL44gad.js
import{Zr as e,en as t}from"./frame-CWAOnKpY.js";function n({children:n}){return e(`div`,{class:`one-stop`,...t(),children:n})}export{n as t};
========
import{$r as e,en as t}from"./frame-D_SdDgU_.js";function n({children:n}){return e(`div`,{class:`one-stop`,...t(),children:n})}export{n as t};
>>>>>>>> 5a811f85 (Join only runs of this program to a series, by their names; one card for memory snapshots on pages about time; names of ops as wide as they are):tensorboard_plugin_dlprof/static/assets/one_stop-BzcDn3vK.js
