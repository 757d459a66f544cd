import{l as a,m as b,n as c}from"./chunk-MGPJIEAC.js";import"./chunk-IZC7V47L.js";import"./chunk-SQE76S5B.js";export{c as Lines,a as TextPreview,b as TextView};
