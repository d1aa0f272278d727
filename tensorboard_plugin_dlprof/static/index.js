/*! Contains Preact, MIT License, (c) 2015-present Jason Miller, https://github.com/preactjs/preact */
<<<<<<< HEAD
export{t as render}from"./assets/frame-BP3X45YZ.js";
=======
export{t as render}from"./assets/frame-BfWpCLux.js";
>>>>>>> d9932dd2 (GPUs and Ranks: say of what each share is, fold what is unknown or idle, and call processes so; open lists at the head of a run)
