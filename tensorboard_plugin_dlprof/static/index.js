/*! Contains Preact, MIT License, (c) 2015-present Jason Miller, https://github.com/preactjs/preact */
export{t as render}from"./assets/frame-DFM6kY9T.js";