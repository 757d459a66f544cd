// Saves the changes of a form with optimistic locking: the service refuses a change of an outdated
// version (412). Changes of different fields are then merged. If both sides have changed the same
// field, the form shows both values and lets the user choose.
import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";
import type { Revision, State } from "../api";
import { Problem } from "../api";
import { Time } from "../ui/components";
import { asProblem } from "../ui/load";
import { UserName } from "../ui/users";

type Value = string | boolean;
type Values = Record<string, Value>;

/** A record that can be edited. */
export type Editable = Revision & { state: State; modified?: string; modifiedBy?: string };

/** The requests that read and change records of one kind. */
export interface Calls<T> {
  get: (id: string) => Promise<T>;
  edit: (of: Revision, fields: Partial<T>) => Promise<T>;
}

/** Converts line ends to the line ends of a form. */
const normalized = (text: unknown) => String(text ?? "").replace(/\r\n?/g, "\n");

/** Whether a form shows two values in the same way. */
const same = (a: unknown, b: unknown) => (typeof b === "boolean" ? !!a === b : normalized(a) === normalized(b));

/** Retries after the record has changed again. */
const attempts = 5;

/** A field that another user has also changed. */
interface Conflict {
  field: string;
  mine: Value;
  theirs: Value;
  kept?: "mine" | "theirs";
}

interface Edit<T> {
  /** The record when the form was opened. */
  was: T | undefined;
  /** Sends the fields that differ from `was`, and returns the changed record. Throws a Problem,
      also if `conflicts` now needs a choice. After the choice, call it again with the same
      fields. */
  save: (fields: Values) => Promise<T>;
  /** Shows the conflicting fields, and lets the user choose the values to keep. */
  conflicts: ComponentChildren;
}

/** @param names the labels of the fields
    @param show converts a value to display text */
export function useEdit<T extends Editable>(record: T | undefined, { get, edit }: Calls<T>, names: Record<string, string>, show = text): Edit<T> {
  const [was] = useState(record);
  const latest = useRef(was);
  const shown = useRef<Values>({}); // the values of other users in the shown conflicts
  const [conflicts, setConflicts] = useState<Conflict[]>([]);

  const conflictsOf = (mine: Values, now: object): Conflict[] => {
    const before: Values = { ...was, ...shown.current };
    const theirs = now as Values;
    return Object.keys(mine)
      .filter((field) => !same(theirs[field], before[field]) && !same(theirs[field], mine[field]))
      .map((field) => ({ field, mine: mine[field]!, theirs: theirs[field]! }));
  };
  const save = async (fields: Values): Promise<T> => {
    const yielded = conflicts.filter((c) => c.kept === "theirs").map((c) => c.field);
    const before = was as unknown as Values;
    const mine = Object.fromEntries(Object.entries(fields).filter(([field, value]) => !same(before[field], value) && !yielded.includes(field)));
    for (let left = attempts; Object.keys(mine).length; left--) {
      try {
        return await edit(latest.current!, mine as Partial<T>);
      } catch (thrown) {
        if (asProblem(thrown).status !== 412 || !left) throw thrown;
      }
      const now = (latest.current = await get(was!.id));
      if (now.state !== "active") throw deleted;
      const found = conflictsOf(mine, now);
      if (!found.length) continue;
      setConflicts([...conflicts.filter((c) => found.every((f) => f.field !== c.field)), ...found]);
      for (const c of found) shown.current[c.field] = c.theirs;
      throw changedMeanwhile;
    }
    return latest.current!;
  };
  const choose = (field: string, kept: "mine" | "theirs") =>
    setConflicts((all) => all.map((c) => (c.field === field ? { ...c, kept } : c)));
  return {
    was,
    save,
    conflicts: conflicts.map((conflict) => (
      <ConflictChoice
        key={conflict.field}
        conflict={conflict}
        name={names[conflict.field] ?? conflict.field}
        latest={latest.current!}
        show={show}
        choose={(kept) => choose(conflict.field, kept)}
      />
    )),
  };
}

const changedMeanwhile = new Problem(412, "changed", "The same field was changed since you opened the form. Choose which value to keep, then save again.");
const deleted = new Problem(409, "deleted", "It was deleted since you opened the form. Nothing was saved.");

interface ConflictProps {
  conflict: Conflict;
  name: string;
  latest: Editable;
  show: (value: Value) => string;
  choose: (kept: "mine" | "theirs") => void;
}

function ConflictChoice({ conflict, name, latest, show, choose }: ConflictProps) {
  const option = (kept: "mine" | "theirs", label: ComponentChildren) => (
    <label class="option">
      <input type="radio" name={`kept ${conflict.field}`} required checked={conflict.kept === kept} onChange={() => choose(kept)} />
      <span>
        {label}
        <span class="preserve">{show(conflict[kept] ?? "")}</span>
      </span>
    </label>
  );
  return (
    <fieldset class="conflict">
      <legend>{name}: which value should be kept?</legend>
      {option("mine", <strong>Yours</strong>)}
      {option(
        "theirs",
        <>
          <strong>Saved in the meantime</strong>{" "}
          <span class="dim">
            {latest.modified && <Time at={latest.modified} />} {latest.modifiedBy && <>by <UserName id={latest.modifiedBy} /></>}
          </span>
        </>,
      )}
    </fieldset>
  );
}

function text(value: Value): string {
  if (typeof value === "boolean") return value ? "yes" : "no";
  return value || "(empty)";
}
