/*! Contains Preact, MIT License, (c) 2015-present Jason Miller, https://github.com/preactjs/preact */
<<<<<<< HEAD
export{t as render}from"./assets/frame-Dir3j3IF.js";
=======
<<<<<<< HEAD
export{t as render}from"./assets/frame-DQxWKYTk.js";
=======
<<<<<<< HEAD
export{t as render}from"./assets/frame-ifaya8Uv.js";
=======
export{t as render}from"./assets/frame-BBgRPp1n.js";
>>>>>>> af354541 (Tell an iteration under the pointer to the nanosecond, in a card that leaves its neighbours free; say what is longest)
>>>>>>> cb5b6c82 (Tell an iteration under the pointer to the nanosecond, in a card that leaves its neighbours free; say what is longest)
>>>>>>> a3bce15b (Tell an iteration under the pointer to the nanosecond, in a card that leaves its neighbours free; say what is longest)
