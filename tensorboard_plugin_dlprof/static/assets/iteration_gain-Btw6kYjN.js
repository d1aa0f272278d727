/*! Contains Preact, MIT License, (c) 2015-present Jason Miller, https://github.com/preactjs/preact */
<<<<<<<< HEAD:tensorboard_plugin_dlprof/static/assets/iteration_gain-Bk1_FTnf.js
import{Ka as e,Qi as t,Ti as n,hr as r,kr as i}from"./frame-D0BMO-m2.js";var a=.85,o=e=>e===null||e<=0||e>=a?``:`Kernels run for ${n(e)} of the time: an iteration may gain less while the host launches no sooner.`;function s(){let n=o(r().busy);return n===``?null:t(e,{children:[n,` `,t(i,{to:{view:`recommendations`},children:`Recommendations`}),` tell what an iteration gains, as far as that is known.`]})}export{o as n,s as t};
========
import{Ka as e,Qi as t,Ti as n,hr as r,kr as i}from"./frame-CE6TJiH6.js";var a=.85,o=e=>e===null||e<=0||e>=a?``:`Kernels run for ${n(e)} of the time: an iteration may gain less while the host launches no sooner.`;function s(){let n=o(r().busy);return n===``?null:t(e,{children:[n,` `,t(i,{to:{view:`recommendations`},children:`Recommendations`}),` tell what an iteration gains, as far as that is known.`]})}export{o as n,s as t};
>>>>>>>> 8d0c8bda (Keep a selection in sight beside what is told of it):tensorboard_plugin_dlprof/static/assets/iteration_gain-Btw6kYjN.js
