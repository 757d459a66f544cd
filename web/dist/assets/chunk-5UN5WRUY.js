import{h as f}from"./chunk-36P7UAAG.js";function i(e){f(()=>{e&&(document.title=`${e} · labshelf`)},[e])}export{i as a};
