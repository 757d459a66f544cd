import{h as f}from"./chunk-CYF5SF6B.js";function i(e){f(()=>{e&&(document.title=`${e} · labshelf`)},[e])}export{i as a};
