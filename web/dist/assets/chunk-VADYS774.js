import{a,b}from"./chunk-NXWWYW27.js";import"./chunk-RXNDSVOH.js";import"./chunk-Y4Z5BJWC.js";import"./chunk-SQE76S5B.js";export{b as Markdown,a as MarkdownPreview};
