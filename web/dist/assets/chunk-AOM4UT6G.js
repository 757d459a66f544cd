import{k as a}from"./chunk-MGPJIEAC.js";import"./chunk-IZC7V47L.js";import"./chunk-SQE76S5B.js";export{a as BytesPreview};
