import{l as a,m as b,n as c}from"./chunk-4BSMCVDC.js";import"./chunk-K2LS35CZ.js";import"./chunk-SQE76S5B.js";export{c as Lines,a as TextPreview,b as TextView};
