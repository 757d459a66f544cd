// Audio and video, played by the browser.
import { useState } from "preact/hooks";
import { resources } from "../api";
import { Skeleton } from "../ui/components";
import { BytesView } from "./bytes";
import type { ViewerProps } from "./props";
import { ReadError, useReadError } from "./source";

export function AudioPreview({ resource }: ViewerProps) {
  return <Player resource={resource} as="audio" />;
}

export function VideoPreview({ resource }: ViewerProps) {
  return <Player resource={resource} as="video" />;
}

function Player({ resource, as: Element }: ViewerProps & { as: "audio" | "video" }) {
  const [failed, setFailed] = useState(false);
  const { problem, checked } = useReadError(resource, failed);
  if (!failed) {
    // Browsers cache media by address for minutes, whatever the headers say: the hash makes the address of a replaced file another one.
    const address = `${resources.data(resource.id, true)}#sha256-${resource.sha256}`;
    return <Element controls preload="metadata" src={address} aria-label={resource.name} onError={() => setFailed(true)} />;
  }
  if (!checked) return <Skeleton lines={3} />;
  if (problem) return <ReadError problem={problem} retry={() => setFailed(false)} />;
  return <BytesView resource={resource} why={`This browser cannot play this ${Element}.`} />;
}
