/*! Contains Preact, MIT License, (c) 2015-present Jason Miller, https://github.com/preactjs/preact */
export{t as render}from"./assets/frame-Bi0EY8B7.js";