import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Problem } from "../api";
import { ErrorMessage, Skeleton } from "./components";

const missing = new Problem(0, "script", "This part of the page could not be loaded. The service may be restarting, or has been upgraded.");

/** A part of a page whose script is loaded on demand. */
export function Lazy<P extends object>({ load, props, lines = 4 }: { load: () => Promise<ComponentType<P>>; props: P; lines?: number }) {
  const [part, setPart] = useState<{ Part: ComponentType<P> } | undefined>();
  const [failed, setFailed] = useState(false);
  useEffect(() => void load().then((Part) => setPart({ Part }), () => setFailed(true)), []);
  // A reload, because browsers cache a script that failed to load.
  if (failed) return <ErrorMessage problem={missing} retry={() => location.reload()} />;
  return part ? <part.Part {...props} /> : <Skeleton lines={lines} />;
}
