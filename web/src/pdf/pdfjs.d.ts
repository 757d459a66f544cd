// The parts of pdf.js that the frame uses. Its own types refer to files that are not vendored.
declare module "pdfjs-dist/legacy/build/pdf.min.mjs" {
  export interface Viewport {
    width: number;
    height: number;
    scale: number;
  }
  export interface Page {
    getViewport(options: { scale: number }): Viewport;
    render(options: { canvas: HTMLCanvasElement; viewport: Viewport; transform?: number[] }): { promise: Promise<void>; cancel(): void };
    streamTextContent(): ReadableStream;
    cleanup(): boolean;
  }
  export interface Document {
    numPages: number;
    getPage(number: number): Promise<Page>;
  }
  export function getDocument(options: {
    data: ArrayBuffer;
    BinaryDataFactory: new (urls: unknown) => { fetch(wanted: { kind: string; filename: string }): Promise<Uint8Array> };
    useWorkerFetch: boolean;
    wasmUrl: string;
    disableWorkerRendering: boolean;
    enableXfa: boolean;
    verbosity: number;
  }): { promise: Promise<Document> };
  export class TextLayer {
    constructor(options: { textContentSource: ReadableStream; container: HTMLElement; viewport: Viewport });
    render(): Promise<void>;
    cancel(): void;
  }
  export const GlobalWorkerOptions: { workerPort: Worker | null };
  export class PasswordException extends Error {}
  export class RenderingCancelledException extends Error {}
}
