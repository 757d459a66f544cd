// Sound and film, which browsers play themselves.
import { useState } from "preact/hooks";
import { resources } from "../api";
import { Waiting } from "../ui/basics";
import { BytesPreview } from "./bytes";
import type { ViewerProps } from "./preview";
import { Unread, useReason } from "./source";

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
