/*! Contains Preact, MIT License, (c) 2015-present Jason Miller, https://github.com/preactjs/preact */
<<<<<<< HEAD
export{t as render}from"./assets/frame-DVpZ1mVo.js";
=======
export{t as render}from"./assets/frame-Dsmhpf9U.js";
>>>>>>> b12e3f1b (Let a rank cost no more than others waited for it)
