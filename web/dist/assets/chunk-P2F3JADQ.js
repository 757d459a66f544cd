import{a,b}from"./chunk-ZQNLRRNN.js";import"./chunk-2WOC3TE7.js";import"./chunk-BH6BHGUY.js";export{b as Markdown,a as MarkdownPreview};
