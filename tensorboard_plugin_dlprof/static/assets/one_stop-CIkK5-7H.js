/*! Contains Preact, MIT License, (c) 2015-present Jason Miller, https://github.com/preactjs/preact */
<<<<<<<< HEAD:tensorboard_plugin_dlprof/static/assets/one_stop-DDThKwZL.js
import{hi as e,ln as t}from"./frame-DB3EPwdN.js";function n({children:n}){return e(`div`,{class:`one-stop`,...t(),children:n})}export{n as t};
========
import{hi as e,ln as t}from"./frame-OjV3JzjF.js";function n({children:n}){return e(`div`,{class:`one-stop`,...t(),children:n})}export{n as t};
>>>>>>>> ee237ba5 (Let the HTML report tell the time in question where no gain is known, one throughput, and what was not recorded, as the Dashboard does):tensorboard_plugin_dlprof/static/assets/one_stop-CIkK5-7H.js
