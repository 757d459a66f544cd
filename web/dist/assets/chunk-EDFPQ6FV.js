import{k as a}from"./chunk-VQ4FPCHI.js";import"./chunk-LXWU5TWH.js";import"./chunk-SQE76S5B.js";export{a as BytesPreview};
