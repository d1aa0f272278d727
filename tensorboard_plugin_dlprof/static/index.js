/*! Contains Preact, MIT License, (c) 2015-present Jason Miller, https://github.com/preactjs/preact */
<<<<<<< HEAD
export{t as render}from"./assets/frame-D0BMO-m2.js";
=======
export{t as render}from"./assets/frame-CE6TJiH6.js";
>>>>>>> 8d0c8bda (Keep a selection in sight beside what is told of it)
