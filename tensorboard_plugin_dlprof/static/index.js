/*! Contains Preact, MIT License, (c) 2015-present Jason Miller, https://github.com/preactjs/preact */
<<<<<<< HEAD
export{t as render}from"./assets/frame-BBnc1zoU.js";
=======
export{t as render}from"./assets/frame-B48xpqbp.js";
>>>>>>> 69feaedb (Compare: one number in the headline, names beside A and B, no colour for noise, and profiles of the same program first in the list)
