import{a,b}from"./chunk-OKBQLLVC.js";import"./chunk-VQ4FPCHI.js";import"./chunk-LXWU5TWH.js";import"./chunk-SQE76S5B.js";export{b as Markdown,a as MarkdownPreview};
