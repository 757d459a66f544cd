import{m as a,n as b,o as c}from"./chunk-CX2SJ5ML.js";import"./chunk-MYYFVUQX.js";import"./chunk-SQE76S5B.js";export{c as Lines,a as TextPreview,b as TextView};
