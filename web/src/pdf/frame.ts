// The frame that renders a PDF. It has no origin and no network access: the page sends it the file, the worker and the decoders as messages.
// Scripts of a document do not run: the part of pdf.js that runs them is not included.
import type { Document, Page } from "pdfjs-dist/legacy/build/pdf.min.mjs";
import { getDocument, GlobalWorkerOptions, PasswordException, TextLayer } from "pdfjs-dist/legacy/build/pdf.min.mjs";
import type { FromFrame, ToFrame } from "./messages";

/** The space between and around sheets, in px; frame.css has the same value. */
const gap = 12;

/** Pixels of a canvas at most: browsers draw nothing on larger ones. */
const maxPixels = 16e6;

const send = (message: FromFrame) => parent.postMessage(message, "*");

/** Requested decoders that have not arrived. */
const requested = new Map<string, { resolve: (bytes: Uint8Array) => void; reject: (reason: Error) => void }>();

/** Requests the decoders of image formats that browsers do not support (JPEG 2000, JBIG2, CCITT). */
class Decoders {
  fetch({ filename }: { filename: string }): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      requested.set(filename, { resolve, reject });
      send({ kind: "decoder", name: filename });
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
    defaultSize: { width: number; height: number },
  ) {
    this.element.className = "sheet";
    this.size = defaultSize;
  }

  /** Sets the size of the sheet, and clears its canvas if the size has changed. */
  layout(scale: number) {
    this.clear();
    this.element.style.width = `${Math.floor(this.size.width * scale)}px`;
    this.element.style.height = `${Math.floor(this.size.height * scale)}px`;
    this.element.style.setProperty("--total-scale-factor", String(scale));
    if (this.near) void this.draw();
  }

  /** Draws the sheet when it comes near the visible area, and frees its canvas when it is far away. */
  async setNear(near: boolean) {
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
      this.layout(currentScale());
      return;
    }
    const viewport = this.page.getViewport({ scale: currentScale() });
    const density = Math.min(devicePixelRatio, Math.sqrt(maxPixels / (viewport.width * viewport.height)));
    const canvas = document.createElement("canvas");
    canvas.width = Math.floor(viewport.width * density);
    canvas.height = Math.floor(viewport.height * density);
    const text = document.createElement("div");
    text.className = "text";
    this.element.replaceChildren(canvas, text);
    const drawing = this.page.render({ canvas, viewport, transform: [density, 0, 0, density, 0, 0] });
    const writing = new TextLayer({ textContentSource: this.page.streamTextContent(), container: text, viewport });
    stop = () => (drawing.cancel(), writing.cancel());
    // After an error the sheet stays as it is; a cancelled one was cleared.
    await Promise.allSettled([drawing.promise, writing.render()]);
  }
}

let sheets: Sheet[] = [];
let defaultSize = { width: 612, height: 792 };
let zoom = 1;

/** CSS pixels per point of the document; at zoom 1 the first sheet is as wide as the frame. */
const currentScale = () => Math.max(0.05, (zoom * (document.documentElement.clientWidth - 2 * gap)) / defaultSize.width);

function layout() {
  const root = document.documentElement;
  const at = root.scrollTop / root.scrollHeight;
  for (const sheet of sheets) sheet.layout(currentScale());
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
  defaultSize = { width, height };
  sheets = Array.from({ length: pdf.numPages }, (_, i) => new Sheet(pdf, i + 1, defaultSize));
  document.body.replaceChildren(...sheets.map((sheet) => sheet.element));
  layout();
  await sheets[0]!.setNear(true);
  const byElement = new Map<Element, Sheet>(sheets.map((sheet) => [sheet.element, sheet]));
  const near = new IntersectionObserver((seen) => seen.forEach((s) => void byElement.get(s.target)!.setNear(s.isIntersecting)), { rootMargin: "100% 0px" });
  for (const sheet of sheets) near.observe(sheet.element);
  let lastWidth = document.documentElement.clientWidth;
  new ResizeObserver(() => {
    if (lastWidth === document.documentElement.clientWidth) return;
    lastWidth = document.documentElement.clientWidth;
    layout();
  }).observe(document.documentElement);
  send({ kind: "drawn", pages: pdf.numPages });
}

addEventListener("message", (event: MessageEvent<ToFrame>) => {
  if (event.source !== parent) return;
  const message = event.data;
  if (message.kind === "open") {
    open(message.file, message.worker).catch((thrown) => send({ kind: "failed", why: thrown instanceof PasswordException ? "password" : "broken" }));
  } else if (message.kind === "zoom") {
    zoom = message.zoom;
    layout();
  } else {
    const waiting = requested.get(message.name);
    requested.delete(message.name);
    if (message.bytes) waiting?.resolve(new Uint8Array(message.bytes));
    else waiting?.reject(new Error(`unknown message ${message.name}`));
  }
});

send({ kind: "ready" });
