import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { Problem } from "../api";

export interface Loaded<T> {
  value: T | undefined;
  problem: Problem | undefined;
  /** Loads again; until the answer arrives, the earlier value stays. */
  reload: () => void;
  /** Like reload, but the earlier value also stays if the service is unreachable: for automatic
      requests. */
  refresh: () => void;
  /** Replaces the value by the response to a change. */
  set: (value: T) => void;
}

/** Whether a problem does not affect the value loaded before. */
const isUnrelated = (p: Problem) => p.status === 0 || p.status === 429 || p.status >= 500;

/** The result of `load`, which is called again whenever one of `dependencies` changes. Responses to
    superseded requests are dropped. */
export function useLoad<T>(load: (signal: AbortSignal) => Promise<T>, dependencies: unknown[]): Loaded<T> {
  const [state, setState] = useState<{ value?: T; problem?: Problem }>({});
  const [attempt, setAttempt] = useState(0);
  const background = useRef(false);
  const current = useRef<AbortController | undefined>(undefined);
  const before = useRef(dependencies);
  useEffect(() => {
    const control = (current.current = new AbortController());
    const inBackground = background.current;
    background.current = false;
    if (before.current.some((d, i) => d !== dependencies[i])) setState({});
    before.current = dependencies;
    load(control.signal)
      .then((value) => !control.signal.aborted && setState({ value }))
      .catch((thrown) => {
        const problem = asProblem(thrown);
        if (control.signal.aborted) return;
        setState((was) => (inBackground && was.value !== undefined && isUnrelated(problem) ? was : { problem }));
      });
    return () => control.abort();
  }, [...dependencies, attempt]);
  const reload = useCallback(() => setAttempt((n) => n + 1), []);
  const refresh = useCallback(() => {
    background.current = true;
    setAttempt((n) => n + 1);
  }, []);
  const set = useCallback((value: T) => {
    current.current?.abort(); // a pending response can be older
    setState({ value });
  }, []);
  return { value: state.value, problem: state.problem, reload, refresh, set };
}

/** An action of a control, its running state, and its error. While it is running it cannot be
    started again. */
export function useAction(action: () => Promise<void>) {
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem | undefined>();
  const dismiss = () => setProblem(undefined);
  const run = async () => {
    if (busy) return;
    setBusy(true);
    dismiss();
    await action().catch((thrown) => setProblem(asProblem(thrown)));
    setBusy(false);
  };
  return { run, busy, problem, dismiss };
}

/** Converts a thrown value to a Problem that can be shown. */
export function asProblem(thrown: unknown): Problem {
  if (thrown instanceof Problem) return thrown;
  return new Problem(-1, "page", `This page has an error: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
}
