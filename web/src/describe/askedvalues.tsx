// The values of the schema's fields, on the page of the object.
import type { Asked, FormField } from "../api";
import type { Group, Metadata, Value } from "./metadata";
import { isGroup, sourceLabels } from "./metadata";
import { Badge } from "../ui/components";
import { problemText, propertyAt } from "./problems";
import { LinkedText, valueText } from "./words";

/** The properties outside of the form. */
export function otherProperties(properties: Group = {}, names: string[]): Group {
  return Object.fromEntries(Object.entries(properties).filter(([name]) => !names.includes(name)));
}

/** A value in the notation of its field. */
function wordsOf(field: FormField, v: Value): string {
  if (field.kind === "choice") return field.choices?.find((c) => JSON.stringify(c.value) === JSON.stringify(v))?.label ?? valueText(v);
  if (field.kind === "group" && isGroup(v)) {
    const labels = new Map((field.fields ?? []).map((f) => [f.name, f]));
    return Object.entries(v)
      .map(([name, value]) => `${labels.get(name)?.label ?? name}: ${labels.has(name) ? wordsOf(labels.get(name)!, value) : valueText(value)}`)
      .join("; ");
  }
  if (field.kind === "dateTime" && typeof v === "string" && !Number.isNaN(Date.parse(v))) return new Date(v).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" });
  return valueText(v);
}

interface Props {
  asked: Asked;
  metadata: Metadata;
  /** The noun for the object, such as file. */
  kind: string;
}

/** The fields with their values and problems. Fields without a value appear only if they are
    required. */
export function AskedValues({ asked, metadata: { properties = {}, sources = {} }, kind }: Props) {
  const fields = asked.form!.fields;
  const problems = new Map<string, string[]>();
  for (const problem of asked.problems) {
    const name = propertyAt(problem.path);
    const field = fields.some((f) => f.name === name) ? name : "";
    const text = problemText(fields, problem);
    problems.set(field, [...(problems.get(field) ?? []), field || !name ? text : `${name}: ${text}`]);
  }
  const shown = fields.filter((f) => properties[f.name!] !== undefined || problems.has(f.name!));
  const others = problems.get("") ?? [];
  if (!shown.length && !others.length) return <p class="dim">This {kind} has a form that is not filled in yet.</p>;
  return (
    <>
      <table class="plain properties">
        <thead>
          <tr>
            <th>Field</th>
            <th>Value</th>
          </tr>
        </thead>
        <tbody>
          {shown.map((f) => (
            <tr key={f.name}>
              <th scope="row" title={f.name}>
                {f.label}
              </th>
              <td>
                <FieldValue field={f} value={properties[f.name!]} /> {sources[f.name!] && <Badge>{sourceLabels[sources[f.name!]!]}</Badge>}
                {problems.get(f.name!)?.map((message) => (
                  <p class="error" key={message}>
                    {message}
                  </p>
                ))}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {others.map((message) => (
        <p class="error" key={message}>
          {message}
        </p>
      ))}
    </>
  );
}

function FieldValue({ field, value }: { field: FormField; value: Value | undefined }) {
  if (value === undefined) return null;
  if (field.kind !== "list" || !Array.isArray(value)) return <LinkedText text={wordsOf(field, value)} />;
  return (
    <ol>
      {value.map((one, i) => (
        <li key={i}>
          <LinkedText text={wordsOf(field.item!, one)} />
        </li>
      ))}
    </ol>
  );
}
