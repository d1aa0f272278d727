/*! Contains Preact, MIT License, (c) 2015-present Jason Miller, https://github.com/preactjs/preact */
<<<<<<<< HEAD:tensorboard_plugin_dlprof/static/assets/hint-CNm0y7-h.js
import{_i as e,vi as t}from"./frame-C9oUPDhs.js";function n({title:n,text:r}){return t(`section`,{class:`hint`,"aria-label":n,children:[t(e,{name:`pointer`}),t(`p`,{children:[t(`strong`,{children:n}),` `,t(`span`,{children:r})]})]})}export{n as t};
========
import{vi as e,yi as t}from"./frame-Add6WB_i.js";function n({title:n,text:r}){return t(`section`,{class:`hint`,"aria-label":n,children:[t(e,{name:`pointer`}),t(`p`,{children:[t(`strong`,{children:n}),` `,t(`span`,{children:r})]})]})}export{n as t};
>>>>>>>> ac43cf09 (Leave the wait for other ranks out of what hiding communication could gain, once the job was compared; and show severity only where no gain says how much a finding matters):tensorboard_plugin_dlprof/static/assets/hint-B72p0o0m.js
