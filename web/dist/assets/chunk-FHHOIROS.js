import{l as a,m as b,n as c}from"./chunk-JMHWBHIA.js";import"./chunk-HA32YGQE.js";export{c as Lines,a as TextPreview,b as TextView};
