// The changes of a bulk edit or of its preview.
import type { BulkChange, BulkOutcome, BulkProblem, FormField } from "../api";
import { metadataLabel } from "../describe/metadata";
import type { Value } from "../describe/metadata";
import { valueText } from "../describe/words";
import { count, plural } from "../format";
import { Link } from "../router";

/** The maximum number of problems that the service returns and the page shows. */
export const maxProblems = 100;

const shown = (v: Value | null) => (v === null ? "" : Array.isArray(v) ? v.map(valueText).join("; ") : valueText(v));

/** Changes that the service makes in addition to the properties. */
const notes = ["schema", "sources"];

/** The user's changes, or else the service's changes. */
function fieldsOf({ fields }: BulkChange): BulkChange["fields"] {
  const said = fields.filter(({ name }) => !notes.includes(name));
  return said.length ? said : fields;
}

/** Describes the number of files that a preview would change. */
export function summary({ changed, unchanged }: BulkOutcome): string {
  if (!changed) return unchanged ? `Nothing changes: ${plural(unchanged, "file already has", "files already have")} these values.` : "Nothing changes.";
  return `${plural(changed, "file changes", "files change")}${unchanged ? `, ${count(unchanged)} ${unchanged === 1 ? "already has" : "already have"} these values` : ""}.`;
}

/** @param form the fields of the form, for their labels */
export function Changes({ of, form = [] }: { of: BulkOutcome; form?: FormField[] | undefined }) {
  const labels = new Map(form.map((f) => [`properties.${f.name}`, f.label]));
  if (!of.changes.length) return null;
  return (
    <div class="wide" tabIndex={0} role="region" aria-label="Changes">
      <table class="plain bulk-changes">
        <thead>
          <tr>
            <th>File</th>
            <th>Field</th>
            <th>Before</th>
            <th>After</th>
          </tr>
        </thead>
        <tbody>
          {of.changes.map((c) => (
            <ChangedFile key={c.id} of={c} labels={labels} />
          ))}
        </tbody>
      </table>
      {of.changed > of.changes.length && <p class="dim foot">and {plural(of.changed - of.changes.length, "other file")}</p>}
    </div>
  );
}

function ChangedFile({ of: c, labels }: { of: BulkChange; labels: ReadonlyMap<string, string> }) {
  const fields = fieldsOf(c);
  return (
    <>
      {fields.map((f, i) => (
        <tr key={f.name}>
          {i === 0 && (
            <th scope="rowgroup" rowSpan={fields.length}>
              <Link to={`/resources/${c.id}`}>{c.name}</Link>
            </th>
          )}
          <td>{labels.get(f.name) ?? metadataLabel(`metadata.${f.name}`)}</td>
          <td class="was">{shown(f.before) || <span class="dim">(nothing)</span>}</td>
          <td>{shown(f.after) || <span class="dim">(nothing)</span>}</td>
        </tr>
      ))}
    </>
  );
}

/** A message of the service with the property name only. */
const plain = (message: string) => message.replaceAll("metadata.properties.", "").replaceAll("metadata.", "");

export function Problems({ of, title }: { of: BulkProblem[]; title: string }) {
  if (!of.length) return null;
  return (
    <section class="note bad bulk-problems" aria-label="Problems">
      <div>
        <p>
          <strong>{title}</strong>
        </p>
        <ul>
          {of.slice(0, maxProblems).map((p, i) => (
            <li key={i}>
              {p.row !== undefined && `Row ${count(p.row)}${p.column ? `, column ${p.column}` : ""}`}
              {p.row !== undefined && ": "}
              {plain(p.message)}
            </li>
          ))}
        </ul>
        {of.length > maxProblems && <p>and {plural(of.length - maxProblems, "other")}</p>}
      </div>
    </section>
  );
}
