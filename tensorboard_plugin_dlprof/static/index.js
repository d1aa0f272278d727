/*! Contains Preact, MIT License, (c) 2015-present Jason Miller, https://github.com/preactjs/preact */
<<<<<<< HEAD
export{t as render}from"./assets/frame-BO2-R3D7.js";
=======
export{t as render}from"./assets/frame-Iz8czwrP.js";
>>>>>>> fe4a3016 (Show findings' places and paths in full on narrow pages, bars of groups on wide ones, and no buttons on the graph's nodes)
