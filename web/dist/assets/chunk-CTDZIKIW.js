import{l as a}from"./chunk-UFRSSV2Z.js";import"./chunk-MYYFVUQX.js";import"./chunk-SQE76S5B.js";export{a as BytesPreview};
