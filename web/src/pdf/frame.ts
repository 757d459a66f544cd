// The inside of the frame in which a PDF is drawn. It has no origin and may fetch nothing: the file, the worker and the decoders come
// from the page by messages. Scripts of a document are not run: the part of pdf.js that could run them is not there.
import { getDocument, GlobalWorkerOptions, PasswordException, TextLayer } from "pdfjs-dist/legacy/build/pdf.min.mjs";
import type { Document, Page } from "pdfjs-dist/legacy/build/pdf.min.mjs";
import type { FromFrame, ToFrame } from "./messages";

/** Between sheets and around them, in px; frame.css says the same. */
const gap = 12;

/** Pixels of a sheet at most: browsers draw nothing on larger canvases. */
const mostPixels = 16e6;

const tell = (message: FromFrame) => parent.postMessage(message, "*");

/** Decoders that were asked for and have not come yet. */
const asked = new Map<string, { resolve: (bytes: Uint8Array) => void; reject: (reason: Error) => void }>();

/** Gets the decoders of images that browsers do not know (JPEG 2000, JBIG2, CCITT). */
class Decoders {
  fetch({ filename }: { filename: string }): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      asked.set(filename, { resolve, reject });
      tell({ kind: "decoder", name: filename });
    });
  }
}

class Sheet {
  readonly element = document.createElement("div");
  private page: Page | undefined;
  private size: { width: number; height: number };
  private cancel: (() => void) | undefined;
  private near = false;

  constructor(
    private readonly pdf: Document,
    private readonly number: number,
    usual: { width: number; height: number },
  ) {
    this.element.className = "sheet";
    this.size = usual;
  }

  /** Takes the room that the sheet needs. What was drawn in another size goes. */
  layout(scale: number) {
    this.clear();
    this.element.style.width = `${Math.floor(this.size.width * scale)}px`;
    this.element.style.height = `${Math.floor(this.size.height * scale)}px`;
    this.element.style.setProperty("--total-scale-factor", String(scale));
    if (this.near) void this.draw();
  }

  /** Draws the sheet when it comes near to what is in sight, and gives its pixels back when it is far away. */
  async see(near: boolean) {
    if (this.near === near) return;
    this.near = near;
    if (near) await this.draw();
    else this.clear();
  }

  private clear() {
    this.cancel?.();
    this.cancel = undefined;
    for (const canvas of this.element.querySelectorAll("canvas")) canvas.width = canvas.height = 0;
    this.element.replaceChildren();
  }

  private async draw() {
    let stopped = false;
    let stop = () => {};
    this.cancel = () => ((stopped = true), stop());
    this.page ??= await this.pdf.getPage(this.number);
    if (stopped) return;
    const { width, height } = this.page.getViewport({ scale: 1 });
    if (width !== this.size.width || height !== this.size.height) {
      this.size = { width, height };
      this.layout(scaleNow());
      return;
    }
    const viewport = this.page.getViewport({ scale: scaleNow() });
    const dense = Math.min(devicePixelRatio, Math.sqrt(mostPixels / (viewport.width * viewport.height)));
    const canvas = document.createElement("canvas");
    canvas.width = Math.floor(viewport.width * dense);
    canvas.height = Math.floor(viewport.height * dense);
    const text = document.createElement("div");
    text.className = "text";
    this.element.replaceChildren(canvas, text);
    const drawing = this.page.render({ canvas, viewport, transform: [dense, 0, 0, dense, 0, 0] });
    const writing = new TextLayer({ textContentSource: this.page.streamTextContent(), container: text, viewport });
    stop = () => (drawing.cancel(), writing.cancel());
    // A sheet that cannot be drawn, or not to its end, stays as it is; a cancelled one has been left.
    await Promise.allSettled([drawing.promise, writing.render()]);
  }
}

let sheets: Sheet[] = [];
let usual = { width: 612, height: 792 };
let zoom = 1;

/** CSS pixels of a point of the document: the first sheet is as wide as the frame. */
const scaleNow = () => Math.max(0.05, (zoom * (document.documentElement.clientWidth - 2 * gap)) / usual.width);

function layout() {
  const root = document.documentElement;
  const at = root.scrollTop / root.scrollHeight;
  for (const sheet of sheets) sheet.layout(scaleNow());
  root.scrollTop = at * root.scrollHeight;
}

async function open(file: ArrayBuffer, worker: ArrayBuffer) {
  GlobalWorkerOptions.workerPort = new Worker(URL.createObjectURL(new Blob([worker], { type: "text/javascript" })));
  const pdf = await getDocument({
    data: file,
    BinaryDataFactory: Decoders,
    useWorkerFetch: false,
    wasmUrl: "decoders/",
    disableWorkerRendering: true,
    enableXfa: false,
    verbosity: 0,
  }).promise;
  const { width, height } = (await pdf.getPage(1)).getViewport({ scale: 1 });
  usual = { width, height };
  sheets = Array.from({ length: pdf.numPages }, (_, i) => new Sheet(pdf, i + 1, usual));
  document.body.replaceChildren(...sheets.map((sheet) => sheet.element));
  layout();
  await sheets[0]!.see(true);
  const byElement = new Map<Element, Sheet>(sheets.map((sheet) => [sheet.element, sheet]));
  const near = new IntersectionObserver((seen) => seen.forEach((s) => void byElement.get(s.target)!.see(s.isIntersecting)), { rootMargin: "100% 0px" });
  for (const sheet of sheets) near.observe(sheet.element);
  let known = document.documentElement.clientWidth;
  new ResizeObserver(() => {
    if (known === document.documentElement.clientWidth) return;
    known = document.documentElement.clientWidth;
    layout();
  }).observe(document.documentElement);
  tell({ kind: "drawn", pages: pdf.numPages });
}

addEventListener("message", (event: MessageEvent<ToFrame>) => {
  if (event.source !== parent) return;
  const message = event.data;
  if (message.kind === "open") {
    open(message.file, message.worker).catch((thrown) => tell({ kind: "failed", why: thrown instanceof PasswordException ? "password" : "broken" }));
  } else if (message.kind === "zoom") {
    zoom = message.zoom;
    layout();
  } else {
    const waiting = asked.get(message.name);
    asked.delete(message.name);
    if (message.bytes) waiting?.resolve(new Uint8Array(message.bytes));
    else waiting?.reject(new Error(`there is no ${message.name}`));
  }
});

tell({ kind: "ready" });
