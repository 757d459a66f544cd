import{h as f}from"./chunk-QX5HM6VS.js";function i(e){f(()=>{e&&(document.title=`${e} · labshelf`)},[e])}export{i as a};
