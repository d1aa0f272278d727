/*! Contains Preact, MIT License, (c) 2015-present Jason Miller, https://github.com/preactjs/preact */
<<<<<<< HEAD
export{t as render}from"./assets/frame-20oGwMQw.js";
=======
export{t as render}from"./assets/frame-Cs2q-71K.js";
>>>>>>> 27e63d03 (Say which runs of a series were too short to test, draw its axis from 0, and shorten the paths of evidence)
