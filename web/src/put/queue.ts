import { useEffect, useState } from "preact/hooks";
/** Counts how often something of a set has changed here, so that its list can be fetched anew. */
export function useArrivals(sid: string): number {
  const [n, setN] = useState(0);
  useEffect(() => {
    const tell = (e: Event) => (e as CustomEvent).detail === sid && setN((k) => k + 1);
    addEventListener("labshelf:arrived", tell);
    return () => removeEventListener("labshelf:arrived", tell);
  }, [sid]);
  return n;
}
