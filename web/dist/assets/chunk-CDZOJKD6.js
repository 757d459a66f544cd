import{h as f}from"./chunk-6JAXUPLP.js";function i(e){f(()=>{e&&(document.title=`${e} · labshelf`)},[e])}export{i as a};
