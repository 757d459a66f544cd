import{k as a,l as b,m as c}from"./chunk-2WOC3TE7.js";import"./chunk-BH6BHGUY.js";export{c as Lines,a as TextPreview,b as TextView};
