import{i as f}from"./chunk-RFDB6L6O.js";function i(e){f(()=>{e&&(document.title=`${e} · labshelf`)},[e])}export{i as a};
