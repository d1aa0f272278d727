/*! Contains Preact, MIT License, (c) 2015-present Jason Miller, https://github.com/preactjs/preact */
<<<<<<< HEAD
export{t as render}from"./assets/frame-DQ_GJK5g.js";
=======
export{t as render}from"./assets/frame-DI4a5_yg.js";
>>>>>>> 48858941 (Order findings alike on Dashboard and Recommendations, give the only iteration its room, and keep the HTML report to the words and units of the pages)
