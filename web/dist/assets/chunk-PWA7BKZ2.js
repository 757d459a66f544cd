import{j as a}from"./chunk-V3TDRFYM.js";import"./chunk-CZALUQBF.js";export{a as BytesPreview};
