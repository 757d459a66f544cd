import{a,b}from"./chunk-2GCNMCRU.js";import"./chunk-CX2SJ5ML.js";import"./chunk-MYYFVUQX.js";import"./chunk-SQE76S5B.js";export{b as Markdown,a as MarkdownPreview};
