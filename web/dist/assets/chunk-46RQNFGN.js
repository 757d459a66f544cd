import{a,b,c}from"./chunk-KBAUXQHM.js";import"./chunk-XG2I3YSJ.js";import"./chunk-BZYN5IER.js";import"./chunk-HA32YGQE.js";export{a as AccountPage,b as Keys,c as Shown};
