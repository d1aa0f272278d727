/*! Contains Preact, MIT License, (c) 2015-present Jason Miller, https://github.com/preactjs/preact */
export{t as render}from"./assets/frame-DPInn4Dc.js";