import{a,b}from"./chunk-PXUAOSOL.js";import"./chunk-4BSMCVDC.js";import"./chunk-K2LS35CZ.js";import"./chunk-SQE76S5B.js";export{b as Markdown,a as MarkdownPreview};
