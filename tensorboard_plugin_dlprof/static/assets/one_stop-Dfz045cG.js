/*! Contains Preact, MIT License, (c) 2015-present Jason Miller, https://github.com/preactjs/preact */
<<<<<<<< HEAD:tensorboard_plugin_dlprof/static/assets/one_stop-BERNKMHm.js
import{ii as e,rn as t}from"./frame-DSGJCLhM.js";function n({children:n}){return e(`div`,{class:`one-stop`,...t(),children:n})}export{n as t};
========
import{ii as e,in as t}from"./frame-CcN-1ytZ.js";function n({children:n}){return e(`div`,{class:`one-stop`,...t(),children:n})}export{n as t};
>>>>>>>> a224b117 (The graph of modules opens what takes most time, with boxes as wide as their names, in a canvas as high as it):tensorboard_plugin_dlprof/static/assets/one_stop-Dfz045cG.js
