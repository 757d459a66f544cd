// Responses of a decoder within a view.
import { useEffect, useRef, useState } from "preact/hooks";
import type { Problem } from "../api";
import { asProblem } from "../ui/load";
import type { Decoder } from "./decoder";
import type { Method, Requests } from "./messages";

/** The response to the last call; until it arrives, the earlier response stays. Without an
    argument, nothing is requested. */
export function useAnswer<M extends Method>(decoder: Decoder, method: M, argument: Requests[M]["argument"] | undefined) {
  type Answered = { answer?: Requests[M]["answer"]; of?: Requests[M]["argument"]; problem?: Problem };
  const [state, setState] = useState<Answered>({});
  const [busy, setBusy] = useState(false);
  const last = useRef(0);
  const key = JSON.stringify(argument);
  useEffect(() => {
    const mine = ++last.current;
    if (argument === undefined) return setState({});
    setBusy(true);
    const end = (next: Answered) => {
      if (mine !== last.current) return;
      setBusy(false);
      setState(next);
    };
    decoder.call(method, argument).then(
      (answer) => end({ answer, of: argument }),
      (thrown) => end({ problem: asProblem(thrown) }),
    );
  }, [decoder, key]);
  useEffect(() => () => void last.current++, []);
  return { ...state, busy };
}
