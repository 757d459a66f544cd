// PDF, rendered by pdf.js in a frame without an origin, so that nothing in a document can use the session of the user.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Problem, Resource } from "../api";
import { base, resources } from "../api";
import { listen } from "../events";
import { plural, size } from "../format";
import type { FromFrame, ToFrame } from "../pdf/messages";
import { Button, ErrorMessage, Skeleton } from "../ui/components";
import { asProblem, useLoad } from "../ui/load";
import { BytesView } from "./bytes";
import type { ViewerProps } from "./props";
import { downloadOrReason, MB, ReadError } from "./source";

/** The paths of the frame, its worker and its decoders; tools/bundle defines them. */
declare const PDF_ASSETS: string;
const assets = JSON.parse(PDF_ASSETS) as { frame: string; worker: string; decoders: Record<string, string> };

/** Larger documents are loaded only on demand. */
const maxAutoLoad = 32 * MB;

const zooms = [0.5, 0.75, 1, 1.5, 2, 3];

export function PdfPreview({ resource }: ViewerProps) {
  const [wanted, setWanted] = useState(resource.bytes <= maxAutoLoad);
  if (wanted) return <Loaded resource={resource} />;
  return (
    <p class="preview-foot">
      The document has {size(resource.bytes)}. <Button onClick={() => setWanted(true)}>Show</Button> <OpenInTab resource={resource} />
    </p>
  );
}

/** A link to the viewer of the browser, which may run scripts of the document. */
function OpenInTab({ resource }: ViewerProps) {
  return (
    <a href={resources.data(resource.id, true)} target="_blank" rel="noopener noreferrer">
      Open in a new tab
    </a>
  );
}

function Loaded({ resource }: ViewerProps) {
  const { value, problem, reload } = useLoad((signal) => downloadOrReason(resource, signal), [resource.id, resource.sha256]);
  if (problem) return <ReadError problem={problem} retry={reload} />;
  if (!value) return <Skeleton lines={10} />;
  return <Frame resource={resource} file={value} />;
}

/** Fetches an asset for the frame, which cannot fetch anything itself. */
async function asset(path: string): Promise<ArrayBuffer> {
  const answer = await fetch(`${base}/${path}`);
  if (!answer.ok) throw new Error(`The service answered ${answer.status} for an asset of this page. Load the page again.`);
  return answer.arrayBuffer();
}

function Frame({ resource, file }: { resource: Resource; file: Blob }) {
  const frame = useRef<HTMLIFrameElement>(null);
  const [pages, setPages] = useState(0);
  const [zoom, setZoom] = useState(1);
  const [frameState, setFrameState] = useState<"loading" | "blocked" | "ready">("loading");
  const [why, setWhy] = useState("");
  const [problem, setProblem] = useState<Problem | undefined>();
  useLayoutEffect(() => {
    const inner = frame.current!.contentWindow!;
    // The frame has no origin that could be the target; its script, which the service has sent, may read the messages.
    const send = (message: ToFrame, ...transferred: ArrayBuffer[]) => inner.postMessage(message, "*", transferred);
    const answer = async (message: FromFrame) => {
      if (message.kind === "ready") {
        setFrameState("ready");
        const [bytes, worker] = await Promise.all([file.arrayBuffer(), asset(assets.worker)]);
        send({ kind: "open", file: bytes, worker }, bytes, worker);
      } else if (message.kind === "decoder") {
        const path = Object.hasOwn(assets.decoders, message.name) ? assets.decoders[message.name] : undefined;
        send({ kind: "decoder", name: message.name, bytes: path && (await asset(path)) || undefined });
      } else if (message.kind === "drawn") {
        setPages(Number(message.pages));
      } else if (message.kind === "failed") {
        setWhy(message.why === "password" ? "This document is protected by a password." : "This document cannot be read as PDF.");
      }
    };
    return listen(window, "message", (e: MessageEvent<FromFrame>) => {
      if (e.source === inner) answer(e.data).catch((thrown) => setProblem(asProblem(thrown)));
    });
  }, [file]);
  useEffect(() => {
    if (pages) frame.current?.contentWindow?.postMessage({ kind: "zoom", zoom } satisfies ToFrame, "*");
  }, [zoom]);
  if (problem) return <ErrorMessage problem={problem} />;
  if (why) {
    return (
      <>
        <p class="preview-foot">
          <OpenInTab resource={resource} />
        </p>
        <BytesView resource={resource} why={why} />
      </>
    );
  }
  const step = (direction: 1 | -1) => setZoom(zooms[zooms.indexOf(zoom) + direction] ?? zoom);
  return (
    <>
      <div class="preview-tools">
        <span class="dim" role="status">
          {pages ? `${plural(pages, "page")} · ${size(resource.bytes)}` : frameState === "blocked" ? "This browser cannot show the PDF here." : "Loading…"}
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
        onLoad={() => setFrameState((was) => (was === "ready" ? was : "blocked"))} // its script, which reports before the load event, did not run
      />
      <p class="preview-foot dim">
        Scripts, forms and links of the document are disabled. <OpenInTab resource={resource} />
      </p>
    </>
  );
}
