/*! Contains Preact, MIT License, (c) 2015-present Jason Miller, https://github.com/preactjs/preact */
<<<<<<<< HEAD:tensorboard_plugin_dlprof/static/assets/one_stop-CVrgOcOH.js
import{Dn as e,Qi as t}from"./frame-D0BMO-m2.js";function n({children:n}){return t(`div`,{class:`one-stop`,...e(),children:n})}export{n as t};
========
import{Dn as e,Qi as t}from"./frame-CE6TJiH6.js";function n({children:n}){return t(`div`,{class:`one-stop`,...e(),children:n})}export{n as t};
>>>>>>>> 8d0c8bda (Keep a selection in sight beside what is told of it):tensorboard_plugin_dlprof/static/assets/one_stop-CMvP8SE3.js
