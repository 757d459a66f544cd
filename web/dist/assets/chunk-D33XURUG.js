import{l as a,m as b,n as c}from"./chunk-LSBLUKIX.js";import"./chunk-BIXGNHXI.js";import"./chunk-SQE76S5B.js";export{c as Lines,a as TextPreview,b as TextView};
