import{h as f}from"./chunk-664VSB6K.js";function i(e){f(()=>{e&&(document.title=`${e} · labshelf`)},[e])}export{i as a};
