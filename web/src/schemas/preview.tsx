// A preview of the form during editing.
import { useState } from "preact/hooks";
import type { FormField } from "../api";
import type { Cell } from "../describe/cells";
import { cellOf } from "../describe/cells";
import { FormFields } from "../describe/fields";
import type { Numeric, Value } from "../describe/metadata";
import type { BuilderField, JsonObject } from "./document";
import { choicesOf, inner, isBlank, isRepeated, kindOf, labelOf, textOf, unitsOf } from "./document";

const numeric = (v: unknown) => (v === undefined ? undefined : (v as Numeric));

/** The bounds of a field, by the names of its form. */
function boundsOf(kind: string, s: JsonObject): Pick<FormField, "min" | "max"> {
  const of = kind === "quantity" ? ((s.properties as JsonObject).value as JsonObject) : s;
  const [least, most] = kind === "text" || kind === "longText" ? ["minLength", "maxLength"] : ["minimum", "maximum"];
  const [min, max] = [numeric(of[least!]), numeric(of[most!])];
  return { ...(min !== undefined && { min }), ...(max !== undefined && { max }) };
}

/** The form field that the service derives from a field of the builder. */
export function drawn(f: BuilderField): FormField {
  const kind = kindOf(f.schema);
  const outer = f.schema as JsonObject;
  const common = { name: f.name || `field ${f.key}`, label: labelOf(f) || "…", required: f.required, ...(textOf(outer, "description") && { help: textOf(outer, "description") }) };
  if (kind === "json") return { ...common, kind };
  const s = inner(f.schema) as JsonObject;
  const base = {
    kind,
    ...boundsOf(kind, s),
    ...(kind === "quantity" && { units: unitsOf(s) }),
    ...(kind === "choice" && { choices: choicesOf(s)!.map(({ value, label = value }) => ({ value, label })) }),
    ...(kind === "group" && { fields: f.fields.filter((one) => !isBlank(one)).map(drawn) }),
  };
  if (!isRepeated(f.schema)) return { ...common, ...base, ...(outer.default !== undefined && { default: outer.default as Value }) };
  return { ...common, kind: "list", item: { label: textOf(s, "title"), ...base } };
}

/** Changes when a cell of the earlier field no longer fits the field. */
const shapeOf = (f: FormField): string => `${f.kind} ${f.item ? shapeOf(f.item) : ""} ${(f.fields ?? []).map((one) => one.name + shapeOf(one)).join()} ${f.units?.[0] ?? ""}`;

export function FormPreview({ fields }: { fields: BuilderField[] }) {
  const [typed, setTyped] = useState<ReadonlyMap<string, Cell>>(new Map());
  const shown = fields.filter((f) => !isBlank(f));
  const forms = shown.map(drawn);
  const ids = shown.map((f, i) => `${f.key} ${shapeOf(forms[i]!)}`);
  const cells = forms.map((form, i) => typed.get(ids[i]!) ?? cellOf(form, form.default));
  if (!shown.length) return <p class="dim">The form appears here as you add fields.</p>;
  return (
    <div class="asked">
      <FormFields
        fields={forms}
        cells={cells}
        onChange={(next) => setTyped(new Map(next.map((cell, i) => [ids[i]!, cell])))}
        problemsAt={() => ""}
        refusedAt={() => ""}
        enforce={false}
      />
    </div>
  );
}
