/*! Contains Preact, MIT License, (c) 2015-present Jason Miller, https://github.com/preactjs/preact */
var e=/(\d) (?=(?:%|ns|µs|ms|s|[kMGT]i?B)(?![A-Za-z]))/g,t=t=>t.replace(e,`$1\xA0`);export{t};