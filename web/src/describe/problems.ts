// Describes problems of properties in terms of the form.
import type { FormField, PropertyProblem } from "../api";

/** The display name of a JSON pointer element. */
export const step = (name: string) => `/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;

/** The elements of a JSON pointer. */
export const stepsOf = (path: string): string[] =>
  path
    .split("/")
    .slice(1)
    .map((name) => name.replaceAll("~1", "/").replaceAll("~0", "~"));

/** The property on the path of a JSON pointer; "" without one. */
export const propertyAt = (path: string) => stepsOf(path)[0] ?? "";

/** The field for a name within a field. */
const within = (field: FormField | undefined, name: string) => (field?.kind === "list" ? field.item : field?.fields?.find((f) => f.name === name));

/** Describes the path below a field, such as "the unit" or "number 2, “Minutes”"; "" for the field
    itself. */
function partOf(field: FormField | undefined, names: string[]): string {
  const [name, ...rest] = names;
  if (name === undefined) return "";
  if (field?.kind === "quantity") return name === "unit" ? "the unit" : "the number";
  const inner = within(field, name);
  const label = field?.kind === "list" ? `${field.item?.label || "number"} ${Number(name) + 1}` : `“${inner?.label ?? name}”`;
  return [label, partOf(inner, rest)].filter(Boolean).join(", ");
}

const capital = (text: string) => text.slice(0, 1).toUpperCase() + text.slice(1);

/** Describes a problem for the field of a JSON pointer, or for its property. */
export function problemText(fields: FormField[], { path, message }: Pick<PropertyProblem, "path" | "message">, at = step(propertyAt(path))): string {
  const names = stepsOf(path);
  const here = stepsOf(at).length;
  const [property, ...inner] = names.slice(0, here);
  const field = inner.reduce(within, fields.find((f) => f.name === property));
  return `${capital(partOf(field, names.slice(here)) || "this")} ${message}.`;
}

/** The JSON pointer of the dotted name of a field such as metadata.properties.steps.0.minutes. */
export const pointerOf = (field: string) => field.split(".").slice(2).map(step).join("");

/** Converts a refusal of the service, such as "metadata.properties.sample is missing; the schema
    runs requires it", to a sentence for a field. */
export function refusalText(fields: FormField[], { field, detail }: { field: string; detail: string }, at: string): string {
  const [said = "", more = ""] = detail.split(/; the schema \S+ requires it/);
  const says = said.startsWith(`${field} `) ? problemText(fields, { path: pointerOf(field), message: said.slice(field.length + 1) }, at) : detail;
  const others = /and (\d+) more/.exec(more)?.[1];
  return others ? `${says} And ${others} more ${others === "1" ? "field is" : "fields are"} missing or wrong.` : says;
}
