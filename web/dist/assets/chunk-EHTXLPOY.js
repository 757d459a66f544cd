import{i as f}from"./chunk-DASCXOL6.js";function i(e){f(()=>{e&&(document.title=`${e} · labshelf`)},[e])}export{i as a};
