/*! Contains Preact, MIT License, (c) 2015-present Jason Miller, https://github.com/preactjs/preact */
<<<<<<<< HEAD:tensorboard_plugin_dlprof/static/assets/use_only_row-DPXEToqo.js
import{Ta as e,hr as t,mr as n,pr as r}from"./frame-ssQrIMLU.js";function i(i,a){let o=t(),s={...o,table:i,links:a,offset:0,limit:1,sort:``,search:``,where:{}},c=r(a.row===``?null:n(o,`only`,i,a),t=>e(s,t));if(c.data===null)return c.error===null?null:``;let{total:l,rows:u,key:d}=c.data;return l===1?String(u[0]?.[d]??``):``}export{i as t};
========
import{Ea as e,hr as t,mr as n,pr as r}from"./frame-BtpqOeTc.js";function i(i,a){let o=t(),s={...o,table:i,links:a,offset:0,limit:1,sort:``,search:``,where:{}},c=r(a.row===``?null:n(o,`only`,i,a),t=>e(s,t));if(c.data===null)return c.error===null?null:``;let{total:l,rows:u,key:d}=c.data;return l===1?String(u[0]?.[d]??``):``}export{i as t};
>>>>>>>> e1447717 (Colour no change of which nobody can tell whether it is one):tensorboard_plugin_dlprof/static/assets/use_only_row-tcwvonwm.js
