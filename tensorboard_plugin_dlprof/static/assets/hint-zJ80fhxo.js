/*! Contains Preact, MIT License, (c) 2015-present Jason Miller, https://github.com/preactjs/preact */
<<<<<<<< HEAD:tensorboard_plugin_dlprof/static/assets/hint-KlnnjmFL.js
import{ga as e,ha as t}from"./frame-ifaya8Uv.js";function n({title:n,text:r}){return e(`section`,{class:`hint`,"aria-label":n,children:[e(t,{name:`pointer`}),e(`p`,{children:[e(`strong`,{children:n}),` `,e(`span`,{children:r})]})]})}export{n as t};
========
import{ma as e,pa as t}from"./frame-BBgRPp1n.js";function n({title:n,text:r}){return e(`section`,{class:`hint`,"aria-label":n,children:[e(t,{name:`pointer`}),e(`p`,{children:[e(`strong`,{children:n}),` `,e(`span`,{children:r})]})]})}export{n as t};
>>>>>>>> af354541 (Tell an iteration under the pointer to the nanosecond, in a card that leaves its neighbours free; say what is longest):tensorboard_plugin_dlprof/static/assets/hint-BSH-_8Kf.js
