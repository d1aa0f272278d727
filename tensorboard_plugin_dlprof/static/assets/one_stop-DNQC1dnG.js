/*! Contains Preact, MIT License, (c) 2015-present Jason Miller, https://github.com/preactjs/preact */
<<<<<<<< HEAD:tensorboard_plugin_dlprof/static/assets/one_stop-DNQC1dnG.js
import{ni as e,nn as t}from"./frame-20oGwMQw.js";function n({children:n}){return e(`div`,{class:`one-stop`,...t(),children:n})}export{n as t};
========
import{ti as e,tn as t}from"./frame-Cs2q-71K.js";function n({children:n}){return e(`div`,{class:`one-stop`,...t(),children:n})}export{n as t};
>>>>>>>> 27e63d03 (Say which runs of a series were too short to test, draw its axis from 0, and shorten the paths of evidence):tensorboard_plugin_dlprof/static/assets/one_stop-D7aKUMbI.js
