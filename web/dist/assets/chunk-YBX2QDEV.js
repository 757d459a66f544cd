import{k as a}from"./chunk-RXNDSVOH.js";import"./chunk-Y4Z5BJWC.js";import"./chunk-SQE76S5B.js";export{a as BytesPreview};
