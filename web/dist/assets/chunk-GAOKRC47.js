import{h as f}from"./chunk-RMAF74L3.js";function i(e){f(()=>{e&&(document.title=`${e} · labshelf`)},[e])}export{i as a};
