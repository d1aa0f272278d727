/*! Contains Preact, MIT License, (c) 2015-present Jason Miller, https://github.com/preactjs/preact */
<<<<<<<< HEAD:tensorboard_plugin_dlprof/static/assets/one_stop-CBa4l0k5.js
import{Vn as e,ga as t}from"./frame-ifaya8Uv.js";function n({children:n}){return t(`div`,{class:`one-stop`,...e(),children:n})}export{n as t};
========
import{bn as e,ma as t}from"./frame-BBgRPp1n.js";function n({children:n}){return t(`div`,{class:`one-stop`,...e(),children:n})}export{n as t};
>>>>>>>> af354541 (Tell an iteration under the pointer to the nanosecond, in a card that leaves its neighbours free; say what is longest):tensorboard_plugin_dlprof/static/assets/one_stop-UaOg_ntm.js
