/*! Contains Preact, MIT License, (c) 2015-present Jason Miller, https://github.com/preactjs/preact */
<<<<<<< HEAD
export{t as render}from"./assets/frame-C9oUPDhs.js";
=======
export{t as render}from"./assets/frame-Add6WB_i.js";
>>>>>>> ac43cf09 (Leave the wait for other ranks out of what hiding communication could gain, once the job was compared; and show severity only where no gain says how much a finding matters)
