/*! Contains Preact, MIT License, (c) 2015-present Jason Miller, https://github.com/preactjs/preact */
<<<<<<< HEAD
export{t as render}from"./assets/frame-DSGJCLhM.js";
=======
export{t as render}from"./assets/frame-CcN-1ytZ.js";
>>>>>>> a224b117 (The graph of modules opens what takes most time, with boxes as wide as their names, in a canvas as high as it)
