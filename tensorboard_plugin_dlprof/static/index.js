/*! Contains Preact, MIT License, (c) 2015-present Jason Miller, https://github.com/preactjs/preact */
<<<<<<< HEAD
export{t as render}from"./assets/frame-wk0hzjD6.js";
=======
export{t as render}from"./assets/frame-DBkYt821.js";
>>>>>>> 35bb3b7f (Call processes by one number on the page of a job, and the rank that the sentence names by its cost)
