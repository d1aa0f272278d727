/*! Contains Preact, MIT License, (c) 2015-present Jason Miller, https://github.com/preactjs/preact */
<<<<<<< HEAD
export{t as render}from"./assets/frame-p6jByh2e.js";
=======
export{t as render}from"./assets/frame-CsjKuSBh.js";
>>>>>>> 8b76c0ea (Show the whole problem where few findings leave room, and do not break names of options; the README says iteration, too)
