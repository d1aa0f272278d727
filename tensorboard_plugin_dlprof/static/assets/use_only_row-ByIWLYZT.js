/*! Contains Preact, MIT License, (c) 2015-present Jason Miller, https://github.com/preactjs/preact */
<<<<<<<< HEAD:tensorboard_plugin_dlprof/static/assets/use_only_row-ByIWLYZT.js
import{Ta as e,hr as t,mr as n,pr as r}from"./frame-D0BMO-m2.js";function i(i,a){let o=t(),s={...o,table:i,links:a,offset:0,limit:1,sort:``,search:``,where:{}},c=r(a.row===``?null:n(o,`only`,i,a),t=>e(s,t));if(c.data===null)return c.error===null?null:``;let{total:l,rows:u,key:d}=c.data;return l===1?String(u[0]?.[d]??``):``}export{i as t};
========
import{Ta as e,hr as t,mr as n,pr as r}from"./frame-CE6TJiH6.js";function i(i,a){let o=t(),s={...o,table:i,links:a,offset:0,limit:1,sort:``,search:``,where:{}},c=r(a.row===``?null:n(o,`only`,i,a),t=>e(s,t));if(c.data===null)return c.error===null?null:``;let{total:l,rows:u,key:d}=c.data;return l===1?String(u[0]?.[d]??``):``}export{i as t};
>>>>>>>> 8d0c8bda (Keep a selection in sight beside what is told of it):tensorboard_plugin_dlprof/static/assets/use_only_row-BYcOk6VZ.js
