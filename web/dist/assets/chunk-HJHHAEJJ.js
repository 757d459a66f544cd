import{h as f}from"./chunk-O2M65U6S.js";function i(e){f(()=>{e&&(document.title=`${e} · labshelf`)},[e])}export{i as a};
