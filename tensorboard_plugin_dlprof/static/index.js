/*! Contains Preact, MIT License, (c) 2015-present Jason Miller, https://github.com/preactjs/preact */
<<<<<<< HEAD
export{t as render}from"./assets/frame-BFSgXJbc.js";
=======
export{t as render}from"./assets/frame-8tseMcu0.js";
>>>>>>> b852fb03 (Show what to do whole and the numbers of a problem on the Dashboard, set assignments as code, and say at the sums of its table how many iterations they are of)
