import{a,b}from"./chunk-HVP6B232.js";import"./chunk-Z5AS2QSO.js";import"./chunk-OV37CETS.js";import"./chunk-SQE76S5B.js";export{b as Markdown,a as MarkdownPreview};
