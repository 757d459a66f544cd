import{k as a}from"./chunk-JMHWBHIA.js";import"./chunk-HA32YGQE.js";export{a as BytesPreview};
