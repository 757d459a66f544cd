// PDF, drawn by pdf.js in a frame without an origin: nothing in a document can act in the name of the visitor.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Problem, Resource } from "../api";
import { base, resources } from "../api";
import { plural, size } from "../human";
import type { FromFrame, ToFrame } from "../pdf/messages";
import { Button, Failed, Waiting } from "../ui/basics";
import { asProblem, useLoad } from "../ui/load";
import { BytesPreview } from "./bytes";
import type { ViewerProps } from "./preview";
import { MB, Unread, wholeOrReason } from "./source";

/** Where the bundle has the document of the frame, its worker and its decoders; tools/bundle says it. */
declare const PDF_ASSETS: string;
const assets = JSON.parse(PDF_ASSETS) as { frame: string; worker: string; decoders: Record<string, string> };

/** Larger documents are loaded only when somebody asks for them. */
const unasked = 32 * MB;

const zooms = [0.5, 0.75, 1, 1.5, 2, 3];

export function PdfPreview({ resource }: ViewerProps) {
  const [wanted, setWanted] = useState(resource.bytes <= unasked);
  if (wanted) return <Loaded resource={resource} />;
  return (
    <p class="preview-foot">
      This document has {size(resource.bytes)}. <Button onClick={() => setWanted(true)}>Show it</Button> <Open resource={resource} />
    </p>
  );
}

/** The browser's own viewer, in which a document may do what browsers let it do. */
function Open({ resource }: ViewerProps) {
  return (
    <a href={resources.data(resource.id, true)} target="_blank" rel="noopener noreferrer">
      Open it in a tab of its own
    </a>
  );
}

function Loaded({ resource }: ViewerProps) {
  const { value, problem, reload } = useLoad((signal) => wholeOrReason(resource, signal), [resource.id, resource.sha256]);
  if (problem) return <Unread problem={problem} retry={reload} />;
  if (!value) return <Waiting lines={10} />;
  return <Framed resource={resource} file={value} />;
}

/** A part of the program, as the frame cannot fetch it. */
async function asset(path: string): Promise<ArrayBuffer> {
  const answer = await fetch(`${base}/${path}`);
  if (!answer.ok) throw new Error(`The service answers ${answer.status} for a part of this page. Load the page again.`);
  return answer.arrayBuffer();
}

function Framed({ resource, file }: { resource: Resource; file: Blob }) {
  const frame = useRef<HTMLIFrameElement>(null);
  const [pages, setPages] = useState(0);
  const [zoom, setZoom] = useState(1);
  const [frameState, setFrameState] = useState<"loading" | "silent" | "ready">("loading");
  const [why, setWhy] = useState("");
  const [problem, setProblem] = useState<Problem | undefined>();
  useLayoutEffect(() => {
    const inner = frame.current!.contentWindow!;
    // The frame has no origin that could be named here; what is sent is not secret from the script that was loaded into it.
    const tell = (message: ToFrame, ...moved: ArrayBuffer[]) => inner.postMessage(message, "*", moved);
    const answer = async (message: FromFrame) => {
      if (message.kind === "ready") {
        setFrameState("ready");
        const [bytes, worker] = await Promise.all([file.arrayBuffer(), asset(assets.worker)]);
        tell({ kind: "open", file: bytes, worker }, bytes, worker);
      } else if (message.kind === "decoder") {
        const path = Object.hasOwn(assets.decoders, message.name) ? assets.decoders[message.name] : undefined;
        tell({ kind: "decoder", name: message.name, bytes: path && (await asset(path)) || undefined });
      } else if (message.kind === "drawn") {
        setPages(Number(message.pages));
      } else if (message.kind === "failed") {
        setWhy(message.why === "password" ? "This document is protected by a password." : "This document cannot be read as PDF.");
      }
    };
    const listen = (e: MessageEvent<FromFrame>) => {
      if (e.source === inner) answer(e.data).catch((thrown) => setProblem(asProblem(thrown)));
    };
    addEventListener("message", listen);
    return () => removeEventListener("message", listen);
  }, [file]);
  useEffect(() => {
    if (pages) frame.current?.contentWindow?.postMessage({ kind: "zoom", zoom } satisfies ToFrame, "*");
  }, [zoom]);
  if (problem) return <Failed problem={problem} />;
  if (why) {
    return (
      <>
        <p class="preview-foot">
          <Open resource={resource} />
        </p>
        <BytesPreview resource={resource} why={why} />
      </>
    );
  }
  const step = (way: 1 | -1) => setZoom(zooms[zooms.indexOf(zoom) + way] ?? zoom);
  return (
    <>
      <div class="preview-tools">
        <span class="dim" role="status">
          {pages ? `${plural(pages, "page")} · ${size(resource.bytes)}` : frameState === "silent" ? "This browser shows no PDF here." : "Loading…"}
        </span>
        <span class="zoom" role="group" aria-label="Zoom">
          <Button kind="quiet" onClick={() => step(-1)} disabled={!pages || zoom === zooms[0]} aria-label="Smaller">
            −
          </Button>
          <Button kind="quiet" onClick={() => setZoom(1)} aria-pressed={zoom === 1} disabled={!pages}>
            Fit
          </Button>
          <Button kind="quiet" onClick={() => step(1)} disabled={!pages || zoom === zooms.at(-1)} aria-label="Larger">
            +
          </Button>
        </span>
      </div>
      <iframe
        class="pdf"
        ref={frame}
        sandbox="allow-scripts"
        src={`${base}/${assets.frame}`}
        title={resource.name}
        data-pages={pages}
        onLoad={() => setFrameState((was) => (was === "ready" ? was : "silent"))} // its script, which comes first, did not run
      />
      <p class="preview-foot dim">
        Scripts, forms and links of the document do nothing here. <Open resource={resource} />
      </p>
    </>
  );
}
