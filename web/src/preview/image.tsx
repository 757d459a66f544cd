// Images in formats that browsers show.
import { useState } from "preact/hooks";
import { count, size } from "../format";
import { type Format, formatOf, headLength } from "../sight/formats";
import { Button, ViewSwitch } from "../ui/components";
import { useLoad } from "../ui/load";
import { LazySight } from "./lazysight";
import { addressedLines } from "./lines";
import type { ViewerProps } from "./props";
import { MB, ReadError, useObjectURL } from "./source";
import { TextView } from "./text";
import { UnknownPreview } from "./unknown";

/** Larger images are loaded only on demand. */
const maxAutoLoad = 32 * MB;

/** The format of a PNG with 16 bits per sample, which browsers reduce to 8. */
async function deepFormat(blob: Blob | undefined): Promise<{ format?: Format }> {
  const head = new Uint8Array((await blob?.slice(0, headLength).arrayBuffer()) ?? []);
  const format = head[24] === 16 ? formatOf(head, []) : undefined;
  return format?.decoder === "png" ? { format } : {};
}

const zooms = [0.25, 0.5, 1, 2, 4, 8];

const svgType = "image/svg+xml";

/** An SVG drawing, as picture or source. In an image it runs no scripts and loads nothing. */
export function DrawingPreview({ file }: ViewerProps) {
  const [view, setView] = useState<"picture" | "source">(addressedLines() ? "source" : "picture");
  return (
    <>
      <div class="preview-tools">
        <ViewSwitch views={["picture", "source"] as const} view={view} onChange={setView} />
      </div>
      {view === "source" ? <TextView file={file} /> : <ImagePreview file={file} type={svgType} />}
    </>
  );
}

/** @param type the media type, if the file has a wrong one */
export function ImagePreview({ file, type }: ViewerProps & { type?: string }) {
  const [wanted, setWanted] = useState(file.bytes <= maxAutoLoad);
  const [pixels, setPixels] = useState<{ width: number; height: number } | undefined>();
  const [zoom, setZoom] = useState(0); // 0: fits the box
  const [failed, setFailed] = useState(false);
  const { address, blob, problem, retry } = useObjectURL(file, wanted, type);
  const { value: deep } = useLoad(() => deepFormat(blob), [blob]);
  if (!wanted) {
    return (
      <p class="preview-foot">
        The image has {size(file.bytes)}.
        <Button onClick={() => setWanted(true)}>Show</Button>
      </p>
    );
  }
  if (problem) return <ReadError problem={problem} retry={retry} />;
  if (deep?.format && blob) return <LazySight file={{ ...file, content: blob }} format={deep.format} />;
  if (failed) return <UnknownPreview file={file} why="This browser cannot show this image." />;
  const fit = (image: HTMLImageElement | null) => {
    if (image && pixels) image.style.setProperty("--width", `${(pixels.width || 300) * zoom}px`);
  };
  const step = (direction: 1 | -1) => {
    const now = zooms.indexOf(zoom || 1);
    setZoom(zooms[Math.min(zooms.length - 1, Math.max(0, now + direction))]!);
  };
  return (
    <>
      <div class="preview-tools">
        <span class="dim">{pixels ? `${pixels.width ? `${count(pixels.width)} × ${count(pixels.height)} pixels · ` : ""}${size(file.bytes)}` : "Loading…"}</span>
        <span class="zoom" role="group" aria-label="Zoom">
          <Button kind="quiet" onClick={() => step(-1)} disabled={!pixels || zoom === zooms[0]} aria-label="Smaller">
            −
          </Button>
          <Button kind="quiet" aria-pressed={zoom === 0} onClick={() => setZoom(0)}>
            Fit
          </Button>
          <Button kind="quiet" aria-pressed={zoom === 1} onClick={() => setZoom(1)}>
            100 %
          </Button>
          <Button kind="quiet" onClick={() => step(1)} disabled={!pixels || zoom === zooms.at(-1)} aria-label="Larger">
            +
          </Button>
          <span class="dim num">{zoom > 1 || (zoom && zoom < 1) ? `${zoom * 100} %` : ""}</span>
        </span>
      </div>
      <div class={`picture ${zoom ? "zoomed" : ""}`} tabIndex={0} role="region" aria-label="Image">
        {address && (
          <img
            ref={fit}
            class={zoom > 1 ? "crisp" : ""}
            src={address}
            alt={file.description || file.name}
            onLoad={(e) => setPixels({ width: e.currentTarget.naturalWidth, height: e.currentTarget.naturalHeight })}
            onError={() => setFailed(true)}
          />
        )}
      </div>
    </>
  );
}
