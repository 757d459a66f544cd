import{a,b}from"./chunk-VAFRNVS3.js";import"./chunk-MGPJIEAC.js";import"./chunk-IZC7V47L.js";import"./chunk-SQE76S5B.js";export{b as Markdown,a as MarkdownPreview};
