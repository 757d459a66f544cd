import{k as a}from"./chunk-5PTGQZ6R.js";import"./chunk-4JNQD5W7.js";import"./chunk-SQE76S5B.js";export{a as BytesPreview};
