/*! Contains Preact, MIT License, (c) 2015-present Jason Miller, https://github.com/preactjs/preact */
<<<<<<< HEAD
export{t as render}from"./assets/frame-DB3EPwdN.js";
=======
export{t as render}from"./assets/frame-OjV3JzjF.js";
>>>>>>> ee237ba5 (Let the HTML report tell the time in question where no gain is known, one throughput, and what was not recorded, as the Dashboard does)
