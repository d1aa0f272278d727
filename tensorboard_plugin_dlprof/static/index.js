/*! Contains Preact, MIT License, (c) 2015-present Jason Miller, https://github.com/preactjs/preact */
<<<<<<< HEAD
export{t as render}from"./assets/frame-D6_KsvxL.js";
=======
export{t as render}from"./assets/frame-Dx6NaPLM.js";
>>>>>>> 2cb8c741 (Name the largest changes in program order first, and put 0 and the whole change beside the chart)
