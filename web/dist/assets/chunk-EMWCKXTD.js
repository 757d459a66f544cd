import{k as a}from"./chunk-4BSMCVDC.js";import"./chunk-K2LS35CZ.js";import"./chunk-SQE76S5B.js";export{a as BytesPreview};
