/*! Contains Preact, MIT License, (c) 2015-present Jason Miller, https://github.com/preactjs/preact */
<<<<<<< HEAD
<<<<<<< HEAD
export{t as render}from"./assets/frame-BZy58An4.js";
=======
<<<<<<< HEAD
export{t as render}from"./assets/frame-C-nBnmvj.js";
=======
export{t as render}from"./assets/frame-DLL_SjyU.js";
>>>>>>> 5c46f95b (Say on the Dashboard what a gain that is not known is about, which causes a part has, one throughput and one idle, and show a snapshot's curve; findings take half of the height)
>>>>>>> 9431b541 (Say on the Dashboard what a gain that is not known is about, which causes a part has, one throughput and one idle, and show a snapshot's curve; findings take half of the height)
=======
export{t as render}from"./assets/frame-DRAE0QYI.js";
>>>>>>> b1af5b73 (Build the pages)
