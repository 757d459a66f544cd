// Changes of many files, in requests of a size that lets progress be shown and the whole be stopped.
import type { ComponentChildren } from "preact";
import type { ManyFiles, Resource } from "../api";
import { sets } from "../api";
import { plural } from "../format";
import { asProblem } from "../ui/load";
import { notify } from "../ui/notice";
import { notifyChange } from "../upload/queue";

/** Files of one request. */
const together = 200;

/** Files that are named of many. */
const maxNamed = 4;

export interface ManyOutcome {
  /** What was changed, as it was, with the id that it has now. */
  done: [was: Resource, id: string][];
  /** What was so before, such as what others have deleted meanwhile. */
  already: Resource[];
  /** Why others were not. Those that were not tried are in neither. */
  refused: Map<Resource, string>;
}

/**
 * Changes files of one set. Never throws: where the service does not answer, the files of that request have the reason, and the rest is not tried.
 * @param onward called before each request with the number of files that were tried; false stops
 */
export async function changeMany(files: Resource[], what: ManyFiles, onward: (tried: number) => boolean): Promise<ManyOutcome> {
  const outcome: ManyOutcome = { done: [], already: [], refused: new Map() };
  for (let at = 0; at < files.length && onward(at); at += together) {
    const some = files.slice(at, at + together);
    try {
      const { results } = await sets.many(some[0]!.setId, what, some.map((r) => r.id));
      results.forEach((result, i) => {
        if (result.code) outcome.refused.set(some[i]!, result.detail ?? result.code);
        else if (result.already) outcome.already.push(some[i]!);
        else outcome.done.push([some[i]!, result.resourceId ?? result.id]);
      });
    } catch (thrown) {
      for (const r of some) outcome.refused.set(r, asProblem(thrown).detail);
      break;
    }
  }
  for (const changed of new Set([files[0]?.setId, what.setId])) if (changed) notifyChange(changed);
  return outcome;
}

/** Tells what was done, with a button that undoes it. */
export function notifyUndoable(text: ComponentChildren, files: Resource[], what: ManyFiles, undone: (was: Resource, id: string) => void = () => {}) {
  notify(<p>{text}</p>, {
    label: "Undo",
    run: async () => {
      const { done, refused } = await changeMany(files, what, () => true);
      for (const [was, id] of done) undone(was, id);
      return (
        <>
          <p>{done.length ? `Undone: ${plural(done.length, "file is", "files are")} back.` : "Nothing was undone."}</p>
          <Refusals of={refused} />
        </>
      );
    },
  });
}

/** Some of the files that were refused, and why. */
export function Refusals({ of }: { of: ReadonlyMap<Resource, string> }) {
  return (
    <>
      {[...of].slice(0, maxNamed).map(([r, reason]) => (
        <p class="error" key={r.id}>
          {r.name}: {reason}
        </p>
      ))}
      {of.size > maxNamed && <p class="error">{plural(of.size - maxNamed, "other was", "others were")} refused, too.</p>}
    </>
  );
}
