// Saves what a form changes in a record. The service refuses a change of a version that is not the latest one (412). Then changes of
// different fields are joined, and where two people have changed the same field, the form shows both texts and asks which one stays.
import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";
import type { State, Version } from "../api";
import { Problem } from "../api";
import { Time } from "../ui/basics";
import { asProblem } from "../ui/load";
import { Who } from "../ui/people";

type Value = string | boolean;
type Values = Record<string, Value>;

/** A record that can be edited. */
type Edited = Version & { state: State; modified?: string; modifiedBy?: string };

/** What reads and changes records of one kind. */
interface Calls<T> {
  get: (id: string) => Promise<T>;
  edit: (of: Version, fields: Partial<T>) => Promise<T>;
}

/** A text with the line ends that a form gives it. */
const plain = (text: unknown) => String(text ?? "").replace(/\r\n?/g, "\n");

/** Whether a form would show two values alike. */
const same = (a: unknown, b: unknown) => (typeof b === "boolean" ? !!a === b : plain(a) === plain(b));

/** Times that a change is sent again because the record has changed once more. */
const attempts = 5;

/** A field that somebody else has changed, too. */
interface Clash {
  field: string;
  mine: Value;
  theirs: Value;
  stays?: "mine" | "theirs";
}

interface Edit<T> {
  /** The record as the form shows it, whatever becomes of it meanwhile. */
  was: T | undefined;
  /**
   * Sends the fields that differ from the record as the form has shown it, and returns the record afterwards. Throws a Problem, also where
   * `clashes` now asks what stays: then it is called again with the same fields.
   */
  save: (fields: Values) => Promise<T>;
  /** Asks which values stay, where somebody else has changed the same fields. */
  clashes: ComponentChildren;
}

/**
 * @param record what is changed; without one there is nothing to save
 * @param names what the form calls its fields
 */
export function useEdit<T extends Edited>(record: T | undefined, { get, edit }: Calls<T>, names: Record<string, string>): Edit<T> {
  const [was] = useState(record);
  const latest = useRef(was);
  const seen = useRef<Values>({}); // others' values that the person has been shown
  const [clashes, setClashes] = useState<Clash[]>([]);

  const clashesOf = (mine: Values, now: object): Clash[] => {
    const before: Values = { ...was, ...seen.current };
    const theirs = now as Values;
    return Object.keys(mine)
      .filter((field) => !same(theirs[field], before[field]) && !same(theirs[field], mine[field]))
      .map((field) => ({ field, mine: mine[field]!, theirs: theirs[field]! }));
  };
  const save = async (fields: Values): Promise<T> => {
    const given = clashes.filter((c) => c.stays === "theirs").map((c) => c.field);
    const before = was as unknown as Values;
    const mine = Object.fromEntries(Object.entries(fields).filter(([field, value]) => !same(before[field], value) && !given.includes(field)));
    for (let left = attempts; Object.keys(mine).length; left--) {
      try {
        return await edit(latest.current!, mine as Partial<T>);
      } catch (thrown) {
        if (asProblem(thrown).status !== 412 || !left) throw thrown;
      }
      const now = (latest.current = await get(was!.id));
      if (now.state !== "active") throw deleted;
      const found = clashesOf(mine, now);
      if (!found.length) continue;
      setClashes([...clashes.filter((c) => found.every((f) => f.field !== c.field)), ...found]);
      for (const c of found) seen.current[c.field] = c.theirs;
      throw changedMeanwhile;
    }
    return latest.current!;
  };
  const choose = (field: string, stays: "mine" | "theirs") =>
    setClashes((all) => all.map((c) => (c.field === field ? { ...c, stays } : c)));
  return {
    was,
    save,
    clashes: clashes.map((clash) => (
      <Choose key={clash.field} clash={clash} name={names[clash.field] ?? clash.field} by={latest.current!} choose={(stays) => choose(clash.field, stays)} />
    )),
  };
}

const changedMeanwhile = new Problem(412, "changed", "Somebody else has changed the same field since you opened it. Choose above what stays, then save again.");
const deleted = new Problem(409, "deleted", "It was deleted since you opened it. Nothing was saved.");

interface ChooseProps {
  clash: Clash;
  name: string;
  by: Edited;
  choose: (stays: "mine" | "theirs") => void;
}

function Choose({ clash, name, by, choose }: ChooseProps) {
  const option = (stays: "mine" | "theirs", label: ComponentChildren) => (
    <label class="option">
      <input type="radio" name={`stays ${clash.field}`} required checked={clash.stays === stays} onChange={() => choose(stays)} />
      <span>
        {label}
        <span class="preserve">{text(clash[stays])}</span>
      </span>
    </label>
  );
  return (
    <fieldset class="clash">
      <legend>{name}: which one stays?</legend>
      {option("mine", <strong>Yours</strong>)}
      {option(
        "theirs",
        <>
          <strong>Saved meanwhile</strong>{" "}
          <span class="dim">
            {by.modified && <Time at={by.modified} />} {by.modifiedBy && <>by <Who id={by.modifiedBy} /></>}
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
