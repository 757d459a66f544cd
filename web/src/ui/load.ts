import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { Problem } from "../api";

export interface Loaded<T> {
  value: T | undefined;
  problem: Problem | undefined;
  /** Loads again, and shows what was there until it has come. */
  reload: () => void;
  /** Takes over what a change has answered with. */
  set: (value: T) => void;
}

/** What `load` brings, anew whenever one of `parts` changes. An answer that comes after the next question is dropped. */
export function useLoad<T>(load: (signal: AbortSignal) => Promise<T>, parts: unknown[]): Loaded<T> {
  const [state, setState] = useState<{ value?: T; problem?: Problem }>({});
  const [turn, setTurn] = useState(0);
  const before = useRef(parts);
  useEffect(() => {
    const control = new AbortController();
    if (before.current.some((part, i) => part !== parts[i])) setState({});
    before.current = parts;
    load(control.signal)
      .then((value) => !control.signal.aborted && setState({ value }))
      .catch((problem) => !control.signal.aborted && setState({ problem: asProblem(problem) }));
    return () => control.abort();
  }, [...parts, turn]);
  const reload = useCallback(() => setTurn((t) => t + 1), []);
  const set = useCallback((value: T) => setState({ value }), []);
  return { value: state.value, problem: state.problem, reload, set };
}

/** Whatever was thrown, as something that can be shown. */
export function asProblem(thrown: unknown): Problem {
  if (thrown instanceof Problem) return thrown;
  return new Problem(-1, "page", `Something is wrong with this page: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
}
