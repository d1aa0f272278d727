/*! Contains Preact, MIT License, (c) 2015-present Jason Miller, https://github.com/preactjs/preact */
<<<<<<< HEAD
export{t as render}from"./assets/frame-2TTGcyQJ.js";
=======
export{t as render}from"./assets/frame-Cet8kinP.js";
>>>>>>> 6ae9d0fa (Say in the headline that two programs differ, of what the strip's Tensor Core share is, and that gains are upper bounds)
