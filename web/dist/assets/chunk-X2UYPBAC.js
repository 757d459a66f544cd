import{a,b,c}from"./chunk-65MD23X7.js";import"./chunk-GHV24OFJ.js";import"./chunk-CZALUQBF.js";export{a as AccountPage,b as Keys,c as Shown};
