/*! Contains Preact, MIT License, (c) 2015-present Jason Miller, https://github.com/preactjs/preact */
<<<<<<< HEAD
export{t as render}from"./assets/frame-ssQrIMLU.js";
=======
export{t as render}from"./assets/frame-BtpqOeTc.js";
>>>>>>> e1447717 (Colour no change of which nobody can tell whether it is one)
