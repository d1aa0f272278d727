/*! Contains Preact, MIT License, (c) 2015-present Jason Miller, https://github.com/preactjs/preact */
<<<<<<<< HEAD:tensorboard_plugin_dlprof/static/assets/one_stop-nigcx7SU.js
import{$r as e,en as t}from"./frame-2TTGcyQJ.js";function n({children:n}){return e(`div`,{class:`one-stop`,...t(),children:n})}export{n as t};
========
import{$r as e,en as t}from"./frame-Cet8kinP.js";function n({children:n}){return e(`div`,{class:`one-stop`,...t(),children:n})}export{n as t};
>>>>>>>> 6ae9d0fa (Say in the headline that two programs differ, of what the strip's Tensor Core share is, and that gains are upper bounds):tensorboard_plugin_dlprof/static/assets/one_stop-dfLPEfL2.js
