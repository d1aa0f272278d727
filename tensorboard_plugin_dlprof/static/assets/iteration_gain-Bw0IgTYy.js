/*! Contains Preact, MIT License, (c) 2015-present Jason Miller, https://github.com/preactjs/preact */
<<<<<<<< HEAD:tensorboard_plugin_dlprof/static/assets/iteration_gain-Bw0IgTYy.js
import{Ka as e,Qi as t,Ti as n,hr as r,kr as i}from"./frame-ssQrIMLU.js";var a=.85,o=e=>e===null||e<=0||e>=a?``:`Kernels run for ${n(e)} of the time: an iteration may gain less while the host launches no sooner.`;function s(){let n=o(r().busy);return n===``?null:t(e,{children:[n,` `,t(i,{to:{view:`recommendations`},children:`Recommendations`}),` tell what an iteration gains, as far as that is known.`]})}export{o as n,s as t};
========
import{$i as e,Ar as t,Ei as n,hr as r,qa as i}from"./frame-BtpqOeTc.js";var a=.85,o=e=>e===null||e<=0||e>=a?``:`Kernels run for ${n(e)} of the time: an iteration may gain less while the host launches no sooner.`;function s(){let n=o(r().busy);return n===``?null:e(i,{children:[n,` `,e(t,{to:{view:`recommendations`},children:`Recommendations`}),` tell what an iteration gains, as far as that is known.`]})}export{o as n,s as t};
>>>>>>>> e1447717 (Colour no change of which nobody can tell whether it is one):tensorboard_plugin_dlprof/static/assets/iteration_gain-B8-cWc_V.js
