/*! Contains Preact, MIT License, (c) 2015-present Jason Miller, https://github.com/preactjs/preact */
<<<<<<< HEAD
export{t as render}from"./assets/frame-BJyx3Rh6.js";
=======
export{t as render}from"./assets/frame-W8SvHoTQ.js";
>>>>>>> a2ef90e7 (Compare the processes of one report from the page, too)
