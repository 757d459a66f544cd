// Goes to a position in a long list: its beginning, its end, a name or a day.
import { useState } from "preact/hooks";
import { useKey } from "../keyboard/keys";
import { IconButton } from "./components";
import type { Rows } from "./rows";

/** The order of a list, for a field that goes to a name or a day. */
export interface Order {
  by: "name" | "time";
  descending: boolean;
  /** The implicit prefix of names: the path of a folder. */
  below: string;
}

type Place = { name?: string; folder?: string; modified?: string };

const encoder = new TextEncoder();

/** Compares by the bytes of UTF-8, as the service orders names. */
function compareNames(a: string, b: string): number {
  const [x, y] = [encoder.encode(a), encoder.encode(b)];
  for (let i = 0; i < x.length && i < y.length; i++) if (x[i] !== y[i]) return x[i]! - y[i]!;
  return x.length - y.length;
}

const nameOf = (at: Place) => at.folder ?? at.name ?? "";

/** Whether a row is before the first row that a text matches. */
function before({ by, descending, below }: Order, text: string) {
  if (by === "time") {
    const day = Date.parse(`${text}T00:00:00Z`);
    const dayEnd = day + 86_400_000;
    return (at: Place) => (descending ? Date.parse(at.modified ?? "") >= dayEnd : Date.parse(at.modified ?? "") < day);
  }
  const name = below + text;
  return (at: Place) => (descending ? compareNames(nameOf(at), name) > 0 && !nameOf(at).startsWith(name) : compareNames(nameOf(at), name) < 0);
}

interface Props<T> {
  rows: Rows<T>;
  order: Order;
  /** Scrolls to a row, and gives it the focus. */
  goTo: (index: number) => void;
}

export function Jump<T>({ rows, order, goTo }: Props<T>) {
  const [problem, setProblem] = useState("");
  const first = () => goTo(0);
  const last = () => goTo(rows.known - 1);
  useKey("Home", "go to the beginning of the list", first);
  useKey("End", "go to the end of the list", last);
  const find = async (text: string) => {
    // Capital letters sort first: lower-case input is tried in both cases.
    const tries = order.by === "time" ? [text] : [text, text[0]!.toUpperCase() + text.slice(1), text.toUpperCase()];
    let found: number | undefined;
    for (const one of new Set(tries)) {
      const at = await rows.find(before(order, one) as (at: unknown) => boolean);
      const row = rows.at(at) as Place | undefined;
      found ??= at;
      if (order.by === "name" && row && nameOf(row).startsWith(order.below + one)) {
        found = at;
        break;
      }
    }
    goTo(Math.min(found!, rows.known - 1));
  };
  const submit = (e: Event) => {
    e.preventDefault();
    const text = (e.currentTarget as HTMLFormElement).querySelector("input")!.value;
    setProblem("");
    if (text) find(text).catch((thrown) => setProblem(thrown instanceof Error ? thrown.message : ""));
  };
  return (
    <form class="jump" onSubmit={submit}>
      <label>
        Go to
        {order.by === "time" ? <input type="date" key="day" title="A day in UTC; Enter goes there" /> : <input key="name" spellcheck={false} placeholder="the beginning of a name" title="Enter goes there" />}
      </label>
      <IconButton icon="up" label="To the beginning of the list" onClick={first} />
      <IconButton icon="down" label="To the end of the list" onClick={last} />
      {problem && <span class="error">{problem}</span>}
    </form>
  );
}
