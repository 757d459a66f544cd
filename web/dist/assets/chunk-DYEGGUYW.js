import{a,b}from"./chunk-ADUSBZQW.js";import"./chunk-NF6RXDRE.js";import"./chunk-QTN2Q5LC.js";import"./chunk-SQE76S5B.js";export{b as Markdown,a as MarkdownPreview};
