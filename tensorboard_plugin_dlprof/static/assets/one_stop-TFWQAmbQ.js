/*! Contains Preact, MIT License, (c) 2015-present Jason Miller, https://github.com/preactjs/preact */
<<<<<<<< HEAD:tensorboard_plugin_dlprof/static/assets/one_stop-D8_sIcDm.js
import{ii as e,rn as t}from"./frame-D6_KsvxL.js";function n({children:n}){return e(`div`,{class:`one-stop`,...t(),children:n})}export{n as t};
========
import{ri as e,rn as t}from"./frame-Dx6NaPLM.js";function n({children:n}){return e(`div`,{class:`one-stop`,...t(),children:n})}export{n as t};
>>>>>>>> 2cb8c741 (Name the largest changes in program order first, and put 0 and the whole change beside the chart):tensorboard_plugin_dlprof/static/assets/one_stop-TFWQAmbQ.js
