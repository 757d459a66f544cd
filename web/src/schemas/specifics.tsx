// The settings of a field that are specific to its kind, in the form builder.
import { useId } from "preact/hooks";
import { numberOf } from "../describe/metadata";
import { readNumber } from "../numbers";
import type { BuilderField, Json, JsonObject } from "./document";
import { choicesOf, inner, mapInner, nameFor, parseJson, schemaText, unitsOf, withKeyword } from "./document";

type Typed = { currentTarget: { value: string } };

interface PartProps {
  field: BuilderField;
  onChange: (field: BuilderField) => void;
}

export function Units({ field, onChange }: PartProps) {
  const id = useId();
  const written = unitsOf(inner(field.schema) as JsonObject).join(", ");
  const text = field.typed.units ?? written;
  const type = (text: string) => {
    const units = [...new Set(text.split(",").map((u) => u.trim()).filter(Boolean))];
    const unit: JsonObject = units.length ? { enum: units } : { type: "string" };
    const schema = mapInner(field.schema, (s) => ({ ...s, properties: { ...(s.properties as JsonObject), unit } }));
    onChange({ ...field, schema, typed: { ...field.typed, units: text } });
  };
  return (
    <label>
      Units
      <input value={text} spellcheck={false} aria-describedby={id} placeholder="any" onInput={(e: Typed) => type(e.currentTarget.value)} />
      <span class="hint" id={id}>
        One, or several with commas: °C, K
      </span>
    </label>
  );
}

/** A minimum and a maximum. Incomplete numbers stay as typed. */
export function Bounds({ field, onChange, of, change }: PartProps & { of: (s: JsonObject) => JsonObject; change: (to: (s: JsonObject) => JsonObject) => (s: JsonObject) => JsonObject }) {
  const s = of(inner(field.schema) as JsonObject);
  const bound = (name: "minimum" | "maximum", label: string) => {
    const value = s[name];
    const text = field.typed[name] ?? (value === undefined ? "" : JSON.stringify(value));
    const wrong = (text.trim() && readNumber(text).error) || "";
    const type = (text: string) => {
      const { number } = readNumber(text);
      const set = (of: JsonObject) => withKeyword(of, name, number === undefined ? undefined : numberOf(number)) as JsonObject;
      onChange({ ...field, schema: mapInner(field.schema, change(set)), typed: { ...field.typed, [name]: text } });
    };
    return (
      <label class="bound">
        {label}
        <input value={text} inputMode="decimal" placeholder="any" aria-invalid={!!wrong} ref={(e) => e?.setCustomValidity(wrong)} onInput={(e: Typed) => type(e.currentTarget.value)} />
      </label>
    );
  };
  return (
    <div class="bounds">
      {bound("minimum", "At least")}
      {bound("maximum", "At most")}
    </div>
  );
}

const choiceLines = (choices: { value: string; label?: string }[]) => choices.map(({ value, label }) => (label === undefined ? value : `${value} = ${label}`)).join("\n");

/** Parses choices from lines of text; codes come before an equals sign. */
function choicesOfLines(text: string, coded: boolean): JsonObject {
  const lines = [...new Set(text.split("\n").map((line) => line.trim()).filter(Boolean))];
  if (!coded) return { enum: lines };
  return {
    oneOf: lines.map((line) => {
      const [, code, words] = /^(.*?)\s*=\s*(.*)$/.exec(line) ?? [];
      return { const: code || line, title: words || line };
    }),
  };
}

const isCoded = (field: BuilderField) => (inner(field.schema) as JsonObject).oneOf !== undefined;

function withChoices(field: BuilderField, text: string, coded: boolean): BuilderField {
  const schema = mapInner(field.schema, ({ enum: _, oneOf: __, ...s }) => ({ ...s, ...choicesOfLines(text, coded) }));
  return { ...field, schema, typed: { ...field.typed, choices: text } };
}

export function Choices({ field, onChange }: PartProps) {
  const id = useId();
  const coded = isCoded(field);
  const text = field.typed.choices ?? choiceLines(choicesOf(inner(field.schema) as JsonObject) ?? []);
  const wrong = text.trim() ? "" : "Write at least one choice.";
  return (
    <label class="choices">
      Choices
      <textarea
        rows={3}
        value={text}
        aria-describedby={id}
        ref={(e) => e?.setCustomValidity(wrong)}
        onInput={(e: Typed) => onChange(withChoices(field, e.currentTarget.value, coded))}
      />
      <span class="hint" id={id}>
        {coded ? "One per line: the code, =, and the label, such as xrd = X-ray diffraction" : "One per line"}
      </span>
    </label>
  );
}

/** Whether short codes are stored instead of labels. */
export function Codes({ field, onChange }: PartProps) {
  const toggle = (coded: boolean) => {
    const choices = choicesOf(inner(field.schema) as JsonObject) ?? [];
    const text = coded ? choices.map(({ value }) => `${nameFor(value)} = ${value}`).join("\n") : choices.map(({ value, label }) => label ?? value).join("\n");
    onChange(withChoices(field, text, coded));
  };
  return (
    <label class="tick">
      <input type="checkbox" checked={isCoded(field)} onChange={(e) => toggle(e.currentTarget.checked)} /> Store short codes, so that the words can be changed later
    </label>
  );
}

/** A part of the schema that the builder cannot show. */
export function JsonText({ field, onChange }: PartProps) {
  const id = useId();
  const text = field.typed.json ?? schemaText(field.schema);
  const parsed = tried(text);
  const type = (text: string) => {
    const { value } = tried(text);
    onChange({ ...field, ...(value !== undefined && { schema: value }), typed: { ...field.typed, json: text } });
  };
  return (
    <label>
      JSON Schema of this field
      <textarea class="mono" rows={4} spellcheck={false} value={text} aria-describedby={id} aria-invalid={!!parsed.error} ref={(e) => e?.setCustomValidity(parsed.error)} onInput={(e: Typed) => type(e.currentTarget.value)} />
      <span class={parsed.error ? "error" : "hint"} id={id}>
        {parsed.error || "The form builder cannot show this rule. It stays and is checked. People fill it in as JSON or as a choice of values."}
      </span>
    </label>
  );
}

function tried(text: string): { value?: Json; error: string } {
  try {
    return { value: parseJson(text), error: "" };
  } catch (thrown) {
    return { error: `This is not JSON: ${(thrown as Error).message}` };
  }
}
