/*! Contains Preact, MIT License, (c) 2015-present Jason Miller, https://github.com/preactjs/preact */
<<<<<<< HEAD
export{t as render}from"./assets/frame-Bp3n-VX7.js";
=======
export{t as render}from"./assets/frame-DESd_CGl.js";
>>>>>>> 9b509d15 (Few tab stops stand before the rows of GPUs, and what unfolds is large enough to be hit)
