function u({slope:o,intercept:s},{range:[e,n],log:a},r=200){return Array.from({length:r+1},(b,t)=>{let i=a?Math.exp(Math.log(e)+Math.log(n/e)*t/r):e+(n-e)*t/r;return[i,s+o*i]})}export{u as a};
