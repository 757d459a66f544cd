import{l as a}from"./chunk-44GAFDD6.js";import"./chunk-4JNQD5W7.js";import"./chunk-SQE76S5B.js";export{a as BytesPreview};
