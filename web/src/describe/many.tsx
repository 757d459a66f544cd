// Describes many files at once: adds a tag to each of them, or sets a property.
import { useEffect, useRef, useState } from "preact/hooks";
import type { Resource } from "../api";
import { resources } from "../api";
import { count, plural } from "../format";
import { Dialog } from "../ui/dialog";
import { Field, Form } from "../ui/form";
import { asProblem } from "../ui/load";
import { notifyChange } from "../upload/queue";
import type { Metadata } from "./metadata";
import { emptyRow, nameOf, propertiesOf, PropertyRow } from "./properties";
import { added } from "./tags";

export type Change = "tag" | "property";

interface Props {
  sid: string;
  of: Resource[];
  what: Change;
  close: () => void;
}

/** Requests under way at the same time. */
const workers = 4;

/** Retries after a file has changed again. */
const attempts = 5;

/** Errors that are shown of many. */
const maxShown = 20;

/** Changes the metadata of a file as they are now: `patch` returns the merge patch, or undefined if nothing is to be changed. */
async function describe(rid: string, patch: (m: Metadata) => object | undefined): Promise<void> {
  for (let left = attempts; ; left--) {
    const now = await resources.get(rid);
    const change = patch(now.metadata ?? {});
    if (!change) return;
    try {
      await resources.describe(now, change);
      return;
    } catch (thrown) {
      if (asProblem(thrown).status !== 412 || !left) throw thrown;
    }
  }
}

/** Which files a run has changed, and why others are as they were. */
interface Outcome {
  done: ReadonlySet<string>;
  errors: ReadonlyMap<string, string>;
}

export function DescribeMany({ sid, of, what, close }: Props) {
  const [all] = useState(of);
  const [tag, setTag] = useState("");
  const [row, setRow] = useState(emptyRow);
  const [outcome, setOutcome] = useState<Outcome>({ done: new Set(), errors: new Map() });
  const [written, setWritten] = useState(""); // what the outcome is about
  const [running, setRunning] = useState(false);
  const open = useRef(true);
  useEffect(() => () => void (open.current = false), []);

  const tags = added([], tag);
  const patch = (m: Metadata) => {
    if (what === "property") return { properties: propertiesOf([row]) };
    const next = added(m.tags ?? [], tag);
    return next.length > (m.tags?.length ?? 0) ? { tags: next } : undefined;
  };
  const submit = async () => {
    const wanted = JSON.stringify(patch({}));
    const done = new Set(wanted === written ? outcome.done : []);
    const errors = new Map<string, string>();
    const left = all.filter((r) => !done.has(r.id));
    setWritten(wanted);
    setRunning(true);
    const work = async () => {
      for (let r = left.shift(); r && open.current; r = left.shift()) {
        const { id } = r;
        await describe(id, patch).then(
          () => done.add(id),
          (thrown) => errors.set(id, asProblem(thrown).detail),
        );
        setOutcome({ done: new Set(done), errors: new Map(errors) });
      }
    };
    await Promise.all(Array.from({ length: workers }, work));
    setRunning(false);
    notifyChange(sid);
    if (!errors.size && open.current) close();
  };
  const { done, errors } = outcome;
  const failed = all.filter((r) => errors.has(r.id));
  const many = plural(all.length, "file");
  return (
    <Dialog title={what === "tag" ? `Add a tag to ${many}` : `Set a property of ${many}`} onClose={close}>
      <Form action={errors.size ? "Try again" : what === "tag" ? "Add" : "Set"} submit={submit} onCancel={close}>
        {() => (
          <div class="describe">
            {what === "tag" ? (
              <Field label="Tag" hint={tags.length > 1 ? plural(tags.length, "tag") : "Several with commas between. Files that have it already stay as they are."}>
                {(a) => <input autofocus required pattern=".*[^\s,].*" value={tag} onInput={(e) => setTag(e.currentTarget.value)} {...a} />}
              </Field>
            ) : (
              <>
                <PropertyRow row={row} number={1} onChange={setRow} error={undefined} />
                <p class="hint">{nameOf(row) ? `${nameOf(row)} gets this value in each of them, whatever it was before.` : "Other properties stay as they are."}</p>
              </>
            )}
            <p role="status">{(running || done.size > 0) && `${count(done.size)} of ${count(all.length)} done`}</p>
            {(running || done.size > 0) && <progress max={all.length} value={done.size + errors.size} aria-label="Done" />}
            {failed.length > 0 && (
              <ul aria-label="Errors">
                {failed.slice(0, maxShown).map((r) => (
                  <li class="error" key={r.id}>
                    <strong>{r.name}</strong>: {errors.get(r.id)}
                  </li>
                ))}
                {failed.length > maxShown && <li class="error">and {plural(failed.length - maxShown, "other")}</li>}
              </ul>
            )}
          </div>
        )}
      </Form>
    </Dialog>
  );
}
