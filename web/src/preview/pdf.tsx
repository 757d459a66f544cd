// PDF, rendered by pdf.js in a frame without an origin, so that a document cannot use the user's
// session.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Problem, StoredFile } from "../api";
import { base, dataAddress } from "../api";
import { listen } from "../events";
import { plural, size } from "../format";
import type { FromFrame, ToFrame } from "../pdf/messages";
import { Button, ErrorMessage, Skeleton } from "../ui/components";
import { asProblem, useLoad } from "../ui/load";
import type { ViewerProps } from "./props";
import { downloadOrReason, MB, ReadError } from "./source";
import { UnknownPreview } from "./unknown";

/** The paths of the frame, its worker and its decoders; verify/tools/bundle defines them. */
declare const PDF_ASSETS: string;
const assets = JSON.parse(PDF_ASSETS) as { frame: string; worker: string; decoders: Record<string, string> };

/** Larger documents are loaded only on demand. */
const maxAutoLoad = 32 * MB;

const zooms = [0.5, 0.75, 1, 1.5, 2, 3];

export function PdfPreview({ file }: ViewerProps) {
  const [wanted, setWanted] = useState(file.bytes <= maxAutoLoad);
  if (wanted) return <Loaded file={file} />;
  return (
    <p class="preview-foot">
      The document has {size(file.bytes)}. <Button onClick={() => setWanted(true)}>Show</Button> <OpenInTab file={file} />
    </p>
  );
}

/** A link to the viewer of the browser, which can run scripts of the document. */
function OpenInTab({ file }: ViewerProps) {
  if (file.content) return null; // a file in an archive has no address
  return (
    <a href={dataAddress(file, true)} target="_blank" rel="noopener noreferrer">
      Open in a new tab
    </a>
  );
}

function Loaded({ file }: ViewerProps) {
  const { value, problem, reload } = useLoad((signal) => downloadOrReason(file, signal), [file.dataUrl, file.sha256]);
  if (problem) return <ReadError problem={problem} retry={reload} />;
  if (!value) return <Skeleton lines={10} />;
  return <Frame file={file} content={value} />;
}

/** Fetches an asset for the frame, which cannot fetch anything itself. */
async function asset(path: string): Promise<ArrayBuffer> {
  const answer = await fetch(`${base}/${path}`);
  if (!answer.ok) throw new Error(`The service answered ${answer.status} for an asset of this page. Load the page again.`);
  return answer.arrayBuffer();
}

function Frame({ file, content }: { file: StoredFile; content: Blob }) {
  const frame = useRef<HTMLIFrameElement>(null);
  const [pages, setPages] = useState(0);
  const [zoom, setZoom] = useState(1);
  const [frameState, setFrameState] = useState<"loading" | "blocked" | "ready">("loading");
  const [why, setWhy] = useState("");
  const [problem, setProblem] = useState<Problem | undefined>();
  useLayoutEffect(() => {
    const inner = frame.current!.contentWindow!;
    // The frame has no origin that could be the target. Its script comes from the service and can
    // read the messages.
    const send = (message: ToFrame, ...transferred: ArrayBuffer[]) => inner.postMessage(message, "*", transferred);
    const answer = async (message: FromFrame) => {
      if (message.kind === "ready") {
        setFrameState("ready");
        const [bytes, worker] = await Promise.all([content.arrayBuffer(), asset(assets.worker)]);
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
  }, [content]);
  useEffect(() => {
    if (pages) frame.current?.contentWindow?.postMessage({ kind: "zoom", zoom } satisfies ToFrame, "*");
  }, [zoom]);
  if (problem) return <ErrorMessage problem={problem} />;
  if (why) {
    return (
      <>
        <p class="preview-foot">
          <OpenInTab file={file} />
        </p>
        <UnknownPreview file={file} why={why} />
      </>
    );
  }
  const step = (direction: 1 | -1) => setZoom(zooms[zooms.indexOf(zoom) + direction] ?? zoom);
  return (
    <>
      <div class="preview-tools">
        <span class="dim" role="status">
          {pages ? `${plural(pages, "page")} · ${size(file.bytes)}` : frameState === "blocked" ? "This browser cannot show the PDF here." : "Loading…"}
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
        title={file.name}
        data-pages={pages}
        // the script, which reports before the load event, did not run
        onLoad={() => setFrameState((was) => (was === "ready" ? was : "blocked"))}
      />
      <p class="preview-foot dim">
        Scripts, forms and links of the document are disabled. <OpenInTab file={file} />
      </p>
    </>
  );
}
