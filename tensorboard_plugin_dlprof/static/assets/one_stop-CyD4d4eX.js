/*! Contains Preact, MIT License, (c) 2015-present Jason Miller, https://github.com/preactjs/preact */
<<<<<<<< HEAD:tensorboard_plugin_dlprof/static/assets/one_stop-DzbTnran.js
import{ln as e,vi as t}from"./frame-C9oUPDhs.js";function n({children:n}){return t(`div`,{class:`one-stop`,...e(),children:n})}export{n as t};
========
import{un as e,yi as t}from"./frame-Add6WB_i.js";function n({children:n}){return t(`div`,{class:`one-stop`,...e(),children:n})}export{n as t};
>>>>>>>> ac43cf09 (Leave the wait for other ranks out of what hiding communication could gain, once the job was compared; and show severity only where no gain says how much a finding matters):tensorboard_plugin_dlprof/static/assets/one_stop-CyD4d4eX.js
