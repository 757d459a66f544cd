// Changes many files, in batches that allow progress and cancellation.
import type { ComponentChildren } from "preact";
import type { ManyFiles, Resource } from "../api";
import { sets } from "../api";
import { plural } from "../format";
import { asProblem } from "../ui/load";
import { notify } from "../ui/notice";
import { notifyChange } from "../upload/queue";

/** The number of files per request. */
const together = 200;

/** The maximum number of files listed by name. */
const maxNamed = 4;

export interface ManyOutcome {
  /** The changed files with their old state and their current id. */
  done: [was: Resource, id: string][];
  /** The files that already had the requested state, such as files that others have deleted. */
  already: Resource[];
  /** The errors of refused files. Files that were not tried are in no list. */
  refused: Map<Resource, string>;
}

/** Changes files of one set. Never throws: if the service does not respond, the files of that
    request get the reason, and the rest is not tried.
    @param onward called before each request with the number of tried files; false stops */
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

/** Reports the changes, with a button that undoes them. */
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

/** Some of the refused files with their reasons. */
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
