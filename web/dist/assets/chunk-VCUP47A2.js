import{l as a,m as b,n as c}from"./chunk-VQ4FPCHI.js";import"./chunk-LXWU5TWH.js";import"./chunk-SQE76S5B.js";export{c as Lines,a as TextPreview,b as TextView};
