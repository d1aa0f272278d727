/*! Contains Preact, MIT License, (c) 2015-present Jason Miller, https://github.com/preactjs/preact */
export{t as render}from"./assets/frame-BO2-R3D7.js";