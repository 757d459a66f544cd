import{j as a}from"./chunk-2WOC3TE7.js";import"./chunk-BH6BHGUY.js";export{a as BytesPreview};
