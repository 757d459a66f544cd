// A file that its viewer cannot show, as bytes or text.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { BytesView } from "./bytes";
import type { ViewerProps } from "./props";
import { TextView } from "./text";

interface Props extends ViewerProps {
  /** The reason why no other preview is shown. */
  why?: string;
  /** Shown first if the first bytes are text. */
  ifText?: ComponentChildren;
}

export function Fallback({ file, why, ifText }: Props) {
  const [view, setView] = useState<"bytes" | "text" | undefined>();
  if (view === "text") return <TextView file={file} why={why ?? ""} asBytes={() => setView("bytes")} />;
  return <BytesView file={file} {...(why && { why })} ifText={view ? undefined : ifText} asText={() => setView("text")} />;
}
