import{a,b}from"./chunk-74UST4SF.js";import"./chunk-44GAFDD6.js";import"./chunk-4JNQD5W7.js";import"./chunk-SQE76S5B.js";export{b as Markdown,a as MarkdownPreview};
