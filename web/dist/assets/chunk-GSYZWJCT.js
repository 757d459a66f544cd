import{a,b,c}from"./chunk-4WEB5VJB.js";import"./chunk-OLCTRGUN.js";import"./chunk-P5DRT72Z.js";import"./chunk-BIXGNHXI.js";import"./chunk-SQE76S5B.js";export{a as AccountPage,b as Keys,c as Shown};
