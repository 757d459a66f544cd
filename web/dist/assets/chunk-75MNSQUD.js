import{a,b}from"./chunk-EF2JZAIH.js";import"./chunk-JMHWBHIA.js";import"./chunk-HA32YGQE.js";export{b as Markdown,a as MarkdownPreview};
