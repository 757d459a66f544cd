import{h as f}from"./chunk-NHADJVJA.js";function i(e){f(()=>{e&&(document.title=`${e} · labshelf`)},[e])}export{i as a};
