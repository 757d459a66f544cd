// The parts of libraries that decoders use. Their own types refer to files that are not vendored.
declare module "@highlightjs/cdn-assets/es/core.min.js" {
  /** Receives the tokens of a grammar. */
  export interface Emitter {
    addText(text: string): void;
    openNode(scope: string): void;
    closeNode(): void;
    startScope(scope: string): void;
    endScope(): void;
    __addSublanguage(emitter: Emitter, name: string): void;
    finalize(): void;
    toHTML(): string;
  }
  const hljs: {
    registerLanguage(name: string, grammar: unknown): void;
    getLanguage(name: string): unknown;
    configure(options: { __emitter: new () => Emitter }): void;
    highlight(code: string, options: { language: string; ignoreIllegals: boolean }): { _emitter: Emitter; errorRaised?: Error };
  };
  export default hljs;
}
declare module "@highlightjs/cdn-assets/es/languages/*" {
  const grammar: unknown;
  export default grammar;
}
declare module "temml/dist/temml.min.js" {
  export interface MathNode {
    type?: string;
    attributes?: Record<string, string>;
    classes?: string[];
    style?: Record<string, string>;
    children?: MathNode[];
    text?: string;
  }
  const temml: {
    __renderToMathMLTree(source: string, options: { displayMode: boolean; throwOnError: boolean; trust: boolean; strict: boolean; maxSize: [number, number]; maxExpand: number; macros: object }): MathNode;
    ParseError: new () => Error;
  };
  export default temml;
}
