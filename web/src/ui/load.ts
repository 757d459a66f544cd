import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { Problem } from "../api";

export interface Loaded<T> {
  value: T | undefined;
  problem: Problem | undefined;
  /** Loads again, and shows what was there until it has come. */
  reload: () => void;
  /** Loads again unasked: where the service cannot say, what was there stays. */
  look: () => void;
  /** Takes over what a change has answered with. */
  set: (value: T) => void;
}

/** Whether a problem says nothing of what was loaded before. */
const saysNothing = (p: Problem) => p.status === 0 || p.status === 429 || p.status >= 500;

/** What `load` brings, anew whenever one of `parts` changes. An answer that comes after the next question is dropped. */
export function useLoad<T>(load: (signal: AbortSignal) => Promise<T>, parts: unknown[]): Loaded<T> {
  const [state, setState] = useState<{ value?: T; problem?: Problem }>({});
  const [turn, setTurn] = useState(0);
  const quiet = useRef(false);
  const current = useRef<AbortController | undefined>(undefined);
  const before = useRef(parts);
  useEffect(() => {
    const control = (current.current = new AbortController());
    const unasked = quiet.current;
    quiet.current = false;
    if (before.current.some((part, i) => part !== parts[i])) setState({});
    before.current = parts;
    load(control.signal)
      .then((value) => !control.signal.aborted && setState({ value }))
      .catch((thrown) => {
        const problem = asProblem(thrown);
        if (control.signal.aborted) return;
        setState((was) => (unasked && was.value !== undefined && saysNothing(problem) ? was : { problem }));
      });
    return () => control.abort();
  }, [...parts, turn]);
  const reload = useCallback(() => setTurn((t) => t + 1), []);
  const look = useCallback(() => {
    quiet.current = true;
    setTurn((t) => t + 1);
  }, []);
  const set = useCallback((value: T) => {
    current.current?.abort(); // what is under way may be older
    setState({ value });
  }, []);
  return { value: state.value, problem: state.problem, reload, look, set };
}

/** Whatever was thrown, as something that can be shown. */
export function asProblem(thrown: unknown): Problem {
  if (thrown instanceof Problem) return thrown;
  return new Problem(-1, "page", `Something is wrong with this page: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
}
