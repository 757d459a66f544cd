import{l as a}from"./chunk-CX2SJ5ML.js";import"./chunk-MYYFVUQX.js";import"./chunk-SQE76S5B.js";export{a as BytesPreview};
