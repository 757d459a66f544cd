import{a,b}from"./chunk-EIKVMA6Y.js";import"./chunk-V3TDRFYM.js";import"./chunk-CZALUQBF.js";export{b as Markdown,a as MarkdownPreview};
