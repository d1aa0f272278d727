/*! Contains Preact, MIT License, (c) 2015-present Jason Miller, https://github.com/preactjs/preact */
<<<<<<< HEAD
export{t as render}from"./assets/frame-CTzlHFaM.js";
=======
export{t as render}from"./assets/frame-BHLcyC3m.js";
>>>>>>> 61895388 (Name collectives in DLProf's classes of kernels, sort groups of unknown gain by their time, and say that an op's GPU time is of all calls)
