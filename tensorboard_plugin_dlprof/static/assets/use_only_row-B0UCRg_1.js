/*! Contains Preact, MIT License, (c) 2015-present Jason Miller, https://github.com/preactjs/preact */
<<<<<<<< HEAD:tensorboard_plugin_dlprof/static/assets/use_only_row-B0UCRg_1.js
import{Hi as e,Hn as t,Un as n,Wn as r}from"./frame-Bp3n-VX7.js";function i(i,a){let o=r(),{profile:s,aggregation:c,domain:l}=o,u={profile:s,aggregation:c,domain:l,table:i,links:a,offset:0,limit:1,sort:``,search:``,where:{}},d=t(a.row===``?null:n(o,`only`,i,a),t=>e(u,t));if(d.data===null)return d.error===null?null:``;let{total:f,rows:p,key:m}=d.data;return f===1?String(p[0]?.[m]??``):``}export{i as t};
========
import{Hi as e,Hn as t,Un as n,Wn as r}from"./frame-DESd_CGl.js";function i(i,a){let o=r(),{profile:s,aggregation:c,domain:l}=o,u={profile:s,aggregation:c,domain:l,table:i,links:a,offset:0,limit:1,sort:``,search:``,where:{}},d=t(a.row===``?null:n(o,`only`,i,a),t=>e(u,t));if(d.data===null)return d.error===null?null:``;let{total:f,rows:p,key:m}=d.data;return f===1?String(p[0]?.[m]??``):``}export{i as t};
>>>>>>>> 9b509d15 (Few tab stops stand before the rows of GPUs, and what unfolds is large enough to be hit):tensorboard_plugin_dlprof/static/assets/use_only_row-CT3pioOq.js
