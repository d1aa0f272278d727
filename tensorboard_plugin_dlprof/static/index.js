/*! Contains Preact, MIT License, (c) 2015-present Jason Miller, https://github.com/preactjs/preact */
<<<<<<< HEAD
export{t as render}from"./assets/frame-D4opqbQX.js";
=======
export{t as render}from"./assets/frame-Bz3kt4NM.js";
>>>>>>> 674cb83b (Say what is under the pointer on dense tracks and curves, tell moments on the timeline as tables do, and fold what old recordings do not tell of memory)
