// Audio and video, played by the browser.
import { useState } from "preact/hooks";
import { dataAddress } from "../api";
import { Skeleton } from "../ui/components";
import type { ViewerProps } from "./props";
import { ReadError, useReadError } from "./source";
import { UnknownPreview } from "./unknown";

export function AudioPreview({ file }: ViewerProps) {
  return <Player file={file} as="audio" />;
}

export function VideoPreview({ file }: ViewerProps) {
  return <Player file={file} as="video" />;
}

function Player({ file, as: Element }: ViewerProps & { as: "audio" | "video" }) {
  const [failed, setFailed] = useState(false);
  const { problem, checked } = useReadError(file, failed);
  if (!failed) {
    // Browsers cache media by address for minutes, regardless of the headers. The hash changes the
    // address of a replaced file.
    const address = `${dataAddress(file, true)}#sha256-${file.sha256}`;
    return <Element controls preload="metadata" src={address} aria-label={file.name} onError={() => setFailed(true)} />;
  }
  if (!checked) return <Skeleton lines={3} />;
  if (problem) return <ReadError problem={problem} retry={() => setFailed(false)} />;
  return <UnknownPreview file={file} why={`This browser cannot play this ${Element}.`} />;
}
