import{a,b}from"./chunk-GEOR5L2R.js";import"./chunk-5PTGQZ6R.js";import"./chunk-4JNQD5W7.js";import"./chunk-SQE76S5B.js";export{b as Markdown,a as MarkdownPreview};
