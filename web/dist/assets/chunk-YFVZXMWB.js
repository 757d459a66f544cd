import{l as a,m as b,n as c}from"./chunk-Z5AS2QSO.js";import"./chunk-OV37CETS.js";import"./chunk-SQE76S5B.js";export{c as Lines,a as TextPreview,b as TextView};
