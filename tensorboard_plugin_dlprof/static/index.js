/*! Contains Preact, MIT License, (c) 2015-present Jason Miller, https://github.com/preactjs/preact */
<<<<<<< HEAD
export{t as render}from"./assets/frame-BqXX1M3o.js";
=======
export{t as render}from"./assets/frame-D_ES_A6r.js";
>>>>>>> 5ff1f6c8 (Say of modules that stand apart from their like how many there are in all, and of a selected one what it could gain and what binds it)
