// What is wrong with properties, in the words of the form that asks for them.
import type { FormField, PropertyProblem } from "../api";

/** What a JSON pointer has for a name. */
export const step = (name: string) => `/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;

/** The names that a JSON pointer leads through. */
export const stepsOf = (path: string): string[] =>
  path
    .split("/")
    .slice(1)
    .map((name) => name.replaceAll("~1", "/").replaceAll("~0", "~"));

/** The name of the property that a JSON pointer leads to or through; "" for none. */
export const propertyAt = (path: string) => stepsOf(path)[0] ?? "";

/** The field that a name in a field leads to. */
const within = (field: FormField | undefined, name: string) => (field?.kind === "list" ? field.item : field?.fields?.find((f) => f.name === name));

/** What the names behind a field lead to, such as "the unit" or "number 2, “Minutes”"; "" for the field itself. */
function partOf(field: FormField | undefined, names: string[]): string {
  const [name, ...rest] = names;
  if (name === undefined) return "";
  if (field?.kind === "quantity") return name === "unit" ? "the unit" : "the number";
  const inner = within(field, name);
  const label = field?.kind === "list" ? `${field.item?.label || "number"} ${Number(name) + 1}` : `“${inner?.label ?? name}”`;
  return [label, partOf(inner, rest)].filter(Boolean).join(", ");
}

const capital = (text: string) => text.slice(0, 1).toUpperCase() + text.slice(1);

/** A problem in a sentence to be read at the field that a JSON pointer leads to, or at its property. */
export function problemText(fields: FormField[], { path, message }: Pick<PropertyProblem, "path" | "message">, at = step(propertyAt(path))): string {
  const names = stepsOf(path);
  const here = stepsOf(at).length;
  const [property, ...inner] = names.slice(0, here);
  const field = inner.reduce(within, fields.find((f) => f.name === property));
  return `${capital(partOf(field, names.slice(here)) || "this")} ${message}.`;
}

/** The JSON pointer of the names between the dots of a field such as metadata.properties.steps.0.what. */
export const pointerOf = (field: string) => field.split(".").slice(2).map(step).join("");

/** An answer that refuses a property, such as "metadata.properties.sample is missing; the schema runs asks for it", as a sentence at a field. */
export function refusalText(fields: FormField[], { field, detail }: { field: string; detail: string }, at: string): string {
  const [said = "", more = ""] = detail.split(/; the schema \S+ asks for it/);
  const says = said.startsWith(`${field} `) ? problemText(fields, { path: pointerOf(field), message: said.slice(field.length + 1) }, at) : detail;
  const others = /and (\d+) more/.exec(more)?.[1];
  return others ? `${says} And ${others} more ${others === "1" ? "field is" : "fields are"} missing or wrong.` : says;
}
