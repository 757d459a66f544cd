import{l as a,m as b,n as c}from"./chunk-5PTGQZ6R.js";import"./chunk-4JNQD5W7.js";import"./chunk-SQE76S5B.js";export{c as Lines,a as TextPreview,b as TextView};
