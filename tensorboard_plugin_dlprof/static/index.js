/*! Contains Preact, MIT License, (c) 2015-present Jason Miller, https://github.com/preactjs/preact */
<<<<<<< HEAD
export{t as render}from"./assets/frame-CWAOnKpY.js";
=======
export{t as render}from"./assets/frame-D_SdDgU_.js";
>>>>>>> 5a811f85 (Join only runs of this program to a series, by their names; one card for memory snapshots on pages about time; names of ops as wide as they are)
