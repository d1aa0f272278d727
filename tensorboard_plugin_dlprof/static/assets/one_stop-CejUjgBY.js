/*! Contains Preact, MIT License, (c) 2015-present Jason Miller, https://github.com/preactjs/preact */
<<<<<<<< HEAD:tensorboard_plugin_dlprof/static/assets/one_stop-CejUjgBY.js
import{un as e,yi as t}from"./frame-BFSgXJbc.js";function n({children:n}){return t(`div`,{class:`one-stop`,...e(),children:n})}export{n as t};
========
import{un as e,yi as t}from"./frame-8tseMcu0.js";function n({children:n}){return t(`div`,{class:`one-stop`,...e(),children:n})}export{n as t};
>>>>>>>> b852fb03 (Show what to do whole and the numbers of a problem on the Dashboard, set assignments as code, and say at the sums of its table how many iterations they are of):tensorboard_plugin_dlprof/static/assets/one_stop-gnk5c5eY.js
