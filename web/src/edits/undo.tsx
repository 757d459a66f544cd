// Undoing bulk edits.
import type { BulkOutcome, Edit } from "../api";
import { edits } from "../api";
import { plural } from "../format";
import { Link } from "../router";
import { notify } from "../ui/notice";
import { notifyChange } from "../upload/queue";

/** The maximum number of files listed by name. */
const maxNamed = 5;

/** The result of an undo; files that others have changed since are listed with links. */
export function Undone({ of, sid }: { of: BulkOutcome; sid: string }) {
  const stay = of.rows - of.changed; // the service lists at most a hundred
  return (
    <>
      <p>
        {of.changed ? `Undone: ${plural(of.changed, "file is", "files are")} as before.` : "Nothing was undone."} <Link to={`/sets/${sid}/table`}>Last edits</Link>
      </p>
      {stay > 0 && (
        <ul>
          {of.problems.slice(0, maxNamed).map((p) => (
            <li key={p.message}>{p.message}</li>
          ))}
          {stay > maxNamed && <li>and {plural(stay - maxNamed, "other")}</li>}
        </ul>
      )}
    </>
  );
}

/** Reports a completed edit, with a button that undoes it. */
export function notifyEdit({ edit, changed }: BulkOutcome, sid: string) {
  notifyChange(sid);
  if (!edit) return;
  notify(
    <p>
      {plural(changed, "file")} changed. <Link to={`/sets/${sid}/table`}>Last edits</Link>
    </p>,
    { label: "Undo", run: () => undo(edit, sid).then((of) => <Undone of={of} sid={sid} />) },
  );
}

export async function undo({ id }: Edit, sid: string): Promise<BulkOutcome> {
  const outcome = await edits.undo(id);
  notifyChange(sid);
  return outcome;
}
