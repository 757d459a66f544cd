import{k as a,l as b,m as c}from"./chunk-V3TDRFYM.js";import"./chunk-CZALUQBF.js";export{c as Lines,a as TextPreview,b as TextView};
