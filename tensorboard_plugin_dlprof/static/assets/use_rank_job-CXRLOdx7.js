/*! Contains Preact, MIT License, (c) 2015-present Jason Miller, https://github.com/preactjs/preact */
<<<<<<<< HEAD:tensorboard_plugin_dlprof/static/assets/use_rank_job-BLU5VhPU.js
import{K as e,n as t,q as n}from"./use_query-DOokPfYg.js";import{a as r}from"./walking-D__9bOp-.js";function i(){let{profile:n,round:i}=r();return t(`${n} ${i} job`,t=>e(n,t))}function a(){let{profile:e,round:i}=r();return t(`${e} ${i} rank`,t=>n(e,t)).data}export{a as n,i as t};
========
import{K as e,n as t,q as n}from"./use_query-ci03qm1Z.js";import{a as r}from"./walking-DzRNd5gB.js";function i(){let{profile:n,round:i}=r();return t(`${n} ${i} job`,t=>e(n,t))}function a(){let{profile:e,round:i}=r();return t(`${e} ${i} rank`,t=>n(e,t)).data}export{a as n,i as t};
>>>>>>>> b06c16d8 (Rank what changed by groups of ops, propose related baselines, cut paths at their slashes, and say forward and backward everywhere):tensorboard_plugin_dlprof/static/assets/use_rank_job-CXRLOdx7.js
