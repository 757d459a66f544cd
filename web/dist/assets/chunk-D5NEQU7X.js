import{k as a}from"./chunk-Z5AS2QSO.js";import"./chunk-OV37CETS.js";import"./chunk-SQE76S5B.js";export{a as BytesPreview};
