/*! Contains Preact, MIT License, (c) 2015-present Jason Miller, https://github.com/preactjs/preact */
<<<<<<<< HEAD:tensorboard_plugin_dlprof/static/assets/one_stop-3Egf8Y-p.js
import{an as e,oi as t}from"./frame-C-nBnmvj.js";function n({children:n}){return t(`div`,{class:`one-stop`,...e(),children:n})}export{n as t};
========
import{cn as e,li as t}from"./frame-DLL_SjyU.js";function n({children:n}){return t(`div`,{class:`one-stop`,...e(),children:n})}export{n as t};
>>>>>>>> 5c46f95b (Say on the Dashboard what a gain that is not known is about, which causes a part has, one throughput and one idle, and show a snapshot's curve; findings take half of the height):tensorboard_plugin_dlprof/static/assets/one_stop-CRQPL_6x.js
