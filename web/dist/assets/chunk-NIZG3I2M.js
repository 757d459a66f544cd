import{k as a}from"./chunk-LSBLUKIX.js";import"./chunk-BIXGNHXI.js";import"./chunk-SQE76S5B.js";export{a as BytesPreview};
