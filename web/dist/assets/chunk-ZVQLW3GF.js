import{h as f}from"./chunk-TAPS4472.js";function i(e){f(()=>{e&&(document.title=`${e} · labshelf`)},[e])}export{i as a};
