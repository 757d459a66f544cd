import{l as a,m as b,n as c}from"./chunk-NF6RXDRE.js";import"./chunk-QTN2Q5LC.js";import"./chunk-SQE76S5B.js";export{c as Lines,a as TextPreview,b as TextView};
