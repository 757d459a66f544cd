var e=class{constructor(t){this.ask=t}ask;known=new Map;get(t){let s=this.known.get(t);return s||(s=this.ask(t),this.known.set(t,s),s.catch(()=>this.known.delete(t))),s}};export{e as a};
