// What browsers have viewers of their own for.
import { useState } from "preact/hooks";
import { resources } from "../api";
import { Waiting } from "../ui/basics";
import { BytesPreview } from "./bytes";
import type { ViewerProps } from "./preview";
import { Unread, useReason } from "./source";

export function PdfPreview({ resource }: ViewerProps) {
  const address = resources.data(resource.id, true);
  // A frame tells nobody that it was refused: ask before, by one byte.
  const [turn, setTurn] = useState(1);
  return <Asked key={turn} resource={resource} address={address} retry={() => setTurn(turn + 1)} />;
}

function Asked({ resource, address, retry }: ViewerProps & { address: string; retry: () => void }) {
  const { problem, asked } = useReason(resource, true);
  if (!asked) return <Waiting lines={10} />;
  if (problem) return <Unread problem={problem} retry={retry} />;
  const link = (
    <a href={address} target="_blank" rel="noopener noreferrer">
      Open it in a tab of its own
    </a>
  );
  // Without a viewer, a frame would only download the file.
  if (!navigator.pdfViewerEnabled) return <p>This browser shows no PDF within a page. {link}</p>;
  return (
    <>
      <iframe class="pdf" src={address} title={resource.name} />
      <p class="preview-foot">{link}</p>
    </>
  );
}

export function AudioPreview({ resource }: ViewerProps) {
  return <Played resource={resource} as="audio" />;
}

export function VideoPreview({ resource }: ViewerProps) {
  return <Played resource={resource} as="video" />;
}

function Played({ resource, as: Element }: ViewerProps & { as: "audio" | "video" }) {
  const [failed, setFailed] = useState(false);
  const { problem, asked } = useReason(resource, failed);
  if (!failed) {
    // Browsers keep sound and film by their addresses for minutes, whatever the service says: another file gets another one.
    const address = `${resources.data(resource.id, true)}#sha256-${resource.sha256}`;
    return <Element controls preload="metadata" src={address} aria-label={resource.name} onError={() => setFailed(true)} />;
  }
  if (!asked) return <Waiting lines={3} />;
  if (problem) return <Unread problem={problem} retry={() => setFailed(false)} />;
  return <BytesPreview resource={resource} why={`This browser cannot play this ${Element}.`} />;
}
