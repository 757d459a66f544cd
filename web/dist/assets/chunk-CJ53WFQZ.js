import{a,b}from"./chunk-DAGQJR4Q.js";import"./chunk-UFRSSV2Z.js";import"./chunk-MYYFVUQX.js";import"./chunk-SQE76S5B.js";export{b as Markdown,a as MarkdownPreview};
