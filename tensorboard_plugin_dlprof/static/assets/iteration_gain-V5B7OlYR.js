/*! Contains Preact, MIT License, (c) 2015-present Jason Miller, https://github.com/preactjs/preact */
<<<<<<<< HEAD:tensorboard_plugin_dlprof/static/assets/iteration_gain-hYfUULZv.js
import{Ui as e}from"./frame-ifaya8Uv.js";var t=.85,n=n=>n===null||n<=0||n>=t?``:`Kernels run for ${e(n)} of the time: an iteration may gain less while the host launches no sooner.`;export{n as t};
========
import{Vi as e}from"./frame-BBgRPp1n.js";var t=.85,n=n=>n===null||n<=0||n>=t?``:`Kernels run for ${e(n)} of the time: an iteration may gain less while the host launches no sooner.`;export{n as t};
>>>>>>>> af354541 (Tell an iteration under the pointer to the nanosecond, in a card that leaves its neighbours free; say what is longest):tensorboard_plugin_dlprof/static/assets/iteration_gain-DS6vDuhF.js
