/*! Contains Preact, MIT License, (c) 2015-present Jason Miller, https://github.com/preactjs/preact */
<<<<<<<< HEAD:tensorboard_plugin_dlprof/static/assets/one_stop-rWhBJ-Pf.js
import{Dn as e,Qi as t}from"./frame-DVpZ1mVo.js";function n({children:n}){return t(`div`,{class:`one-stop`,...e(),children:n})}export{n as t};
========
import{En as e,Xi as t}from"./frame-Dsmhpf9U.js";function n({children:n}){return t(`div`,{class:`one-stop`,...e(),children:n})}export{n as t};
>>>>>>>> b12e3f1b (Let a rank cost no more than others waited for it):tensorboard_plugin_dlprof/static/assets/one_stop-Dj25WTtJ.js
