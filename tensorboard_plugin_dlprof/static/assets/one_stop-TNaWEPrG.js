/*! Contains Preact, MIT License, (c) 2015-present Jason Miller, https://github.com/preactjs/preact */
<<<<<<<< HEAD:tensorboard_plugin_dlprof/static/assets/one_stop-TNaWEPrG.js
import{ii as e,rn as t}from"./frame-CTzlHFaM.js";function n({children:n}){return e(`div`,{class:`one-stop`,...t(),children:n})}export{n as t};
========
import{ni as e,nn as t}from"./frame-BHLcyC3m.js";function n({children:n}){return e(`div`,{class:`one-stop`,...t(),children:n})}export{n as t};
>>>>>>>> 61895388 (Name collectives in DLProf's classes of kernels, sort groups of unknown gain by their time, and say that an op's GPU time is of all calls):tensorboard_plugin_dlprof/static/assets/one_stop-CX_4pVkk.js
