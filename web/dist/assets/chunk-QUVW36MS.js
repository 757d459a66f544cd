import{a,b}from"./chunk-COJWENSG.js";import"./chunk-LSBLUKIX.js";import"./chunk-BIXGNHXI.js";import"./chunk-SQE76S5B.js";export{b as Markdown,a as MarkdownPreview};
