import{k as a}from"./chunk-NF6RXDRE.js";import"./chunk-QTN2Q5LC.js";import"./chunk-SQE76S5B.js";export{a as BytesPreview};
