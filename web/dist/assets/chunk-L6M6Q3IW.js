import{m as a,n as b,o as c}from"./chunk-44GAFDD6.js";import"./chunk-4JNQD5W7.js";import"./chunk-SQE76S5B.js";export{c as Lines,a as TextPreview,b as TextView};
