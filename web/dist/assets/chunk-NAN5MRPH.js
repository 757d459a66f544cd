import{a,b,c}from"./chunk-6QW4QDZR.js";import"./chunk-UCV53FN4.js";import"./chunk-BH6BHGUY.js";export{a as AccountPage,b as Keys,c as Shown};
