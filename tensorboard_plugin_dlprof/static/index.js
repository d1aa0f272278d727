/*! Contains Preact, MIT License, (c) 2015-present Jason Miller, https://github.com/preactjs/preact */
<<<<<<< HEAD
export{t as render}from"./assets/frame-DQ_GJK5g.js";
=======
export{t as render}from"./assets/frame-CsaCOfWw.js";
>>>>>>> 17bbcc7d (Begin with a gap of the window, and say an 823 µs step)
