import{l as a,m as b,n as c}from"./chunk-RXNDSVOH.js";import"./chunk-Y4Z5BJWC.js";import"./chunk-SQE76S5B.js";export{c as Lines,a as TextPreview,b as TextView};
