// The fields of an object in the builder of forms, in their order.
import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Button, IconButton } from "../ui/components";
import type { BuilderField, Json, JsonObject, Kind } from "./document";
import { freeName, isBlank, isRepeated, kindLabels, kindOf, labelOf, moved, nameFor, newField, ofKind, repeated, textOf, withKeyword } from "./document";
import { Bounds, Choices, Codes, JsonText, Units } from "./specifics";

interface Props {
  fields: BuilderField[];
  depth: number;
  onChange: (fields: BuilderField[]) => void;
  /** The label of the button that adds one. */
  add: string;
}

export function FieldList({ fields, depth, onChange, add }: Props) {
  const ref = useRef<HTMLDivElement>(null);
  // the element that gets the focus after rendering
  const focus = useRef<string | undefined>(undefined);
  const [said, setSaid] = useState("");
  useLayoutEffect(() => {
    if (focus.current) ref.current!.querySelector<HTMLElement>(focus.current)?.focus();
    focus.current = undefined;
  });
  const insert = (at: number) => {
    const field = newField();
    focus.current = `:scope > [data-field="${field.key}"] .label`;
    onChange(fields.toSpliced(at, 0, field));
  };
  const move = (at: number, by: number) => {
    const next = moved(fields, at, by);
    if (next === fields) return;
    const { key } = fields[at]!;
    const before = document.activeElement;
    const card = `:scope > [data-field="${key}"]`;
    focus.current = before instanceof HTMLElement && before.dataset.move ? `${card} [data-move="${before.dataset.move}"]` : `${card} .label`;
    setSaid(`${labelOf(fields[at]!) || "The field"} is now number ${at + by + 1} of ${fields.length}.`);
    onChange(next);
  };
  const remove = (at: number) => {
    focus.current = ":scope > .add-field";
    onChange(fields.toSpliced(at, 1));
  };
  return (
    <div class="field-list" ref={ref}>
      {fields.map((field, i) => (
        <FieldCard
          key={field.key}
          field={field}
          at={i}
          of={fields.length}
          others={fields.filter((f) => f !== field)}
          depth={depth}
          onChange={(to) => onChange(fields.with(i, to))}
          move={(by) => move(i, by)}
          add={() => insert(i + 1)}
          remove={() => remove(i)}
        />
      ))}
      <p class="visually-hidden" role="status">
        {said}
      </p>
      <Button icon="plus" class="tight add-field" onClick={() => insert(fields.length)}>
        {add}
      </Button>
    </div>
  );
}

interface CardProps {
  field: BuilderField;
  /** Its index, and the number of fields. */
  at: number;
  of: number;
  /** The other fields of the object. */
  others: BuilderField[];
  /** The nesting depth. */
  depth: number;
  onChange: (field: BuilderField) => void;
  move: (by: number) => void;
  add: () => void;
  remove: () => void;
}

type Typed = { currentTarget: { value: string } };

export function FieldCard({ field, at, of, others, depth, onChange, move, add, remove }: CardProps) {
  const id = useId();
  const kind = kindOf(field.schema);
  const label = labelOf(field);
  const keyword = (name: string, value: Json | undefined) => onChange({ ...field, schema: withKeyword(field.schema, name, value) });
  const relabel = (text: string) => {
    const schema = withKeyword(field.schema, "title", text);
    onChange({ ...field, schema, ...(!field.named && { name: freeName(nameFor(text), others) }) });
  };
  const kinds = (Object.keys(kindLabels) as Kind[]).filter((k) => (k !== "json" || kind === "json") && (k !== "group" || depth < 2 || kind === "group"));
  const onKeyDown = (e: KeyboardEvent) => {
    if (!e.altKey || (e.key !== "ArrowUp" && e.key !== "ArrowDown")) return;
    e.preventDefault();
    e.stopPropagation(); // applies to the innermost group
    move(e.key === "ArrowUp" ? -1 : 1);
  };
  const enter = (e: KeyboardEvent) => {
    if (e.key !== "Enter" || e.isComposing || e.ctrlKey || e.metaKey) return;
    e.preventDefault();
    e.stopPropagation();
    if (label) add();
  };
  const what = label || `field ${at + 1}`;
  const taken = !!field.name && others.some((o) => o.name === field.name);
  const problem = taken ? "Another field has this name." : isBlank(field) || field.name ? "" : label ? "Give it a name, below “More”." : "Give it a label.";
  return (
    <fieldset class="field-card" data-field={field.key} onKeyDown={onKeyDown}>
      <legend class="visually-hidden">
        {what}, {at + 1} of {of}
      </legend>
      <div class="main">
        <label>
          Label
          <input
            class="label"
            value={label}
            aria-describedby={`${id}-error`}
            aria-invalid={!!problem}
            ref={(e) => e?.setCustomValidity(problem)}
            onInput={(e: Typed) => relabel(e.currentTarget.value)}
            onKeyDown={enter}
            placeholder="Such as Temperature"
          />
        </label>
        <label>
          Kind
          <select value={kind} onChange={(e) => onChange(ofKind(field, e.currentTarget.value as Kind))}>
            {kinds.map((k) => (
              <option key={k} value={k}>
                {kindLabels[k]}
              </option>
            ))}
          </select>
        </label>
        <label class="tick">
          <input type="checkbox" checked={field.required} onChange={(e) => onChange({ ...field, required: e.currentTarget.checked })} /> Required
        </label>
        <label class="tick">
          <input type="checkbox" checked={isRepeated(field.schema)} disabled={kind === "json"} onChange={(e) => onChange(repeated(field, e.currentTarget.checked))} /> Several
        </label>
        <div class="place">
          <IconButton icon="up" data-move="-1" label={`Move ${what} up`} aria-disabled={at === 0} onClick={() => move(-1)} />
          <IconButton icon="down" data-move="1" label={`Move ${what} down`} aria-disabled={at === of - 1} onClick={() => move(1)} />
          <IconButton icon="cross" label={`Remove ${what}`} onClick={remove} />
        </div>
      </div>
      <p class="error" id={`${id}-error`} role="alert">
        {problem}
      </p>
      <Specifics field={field} kind={kind} onChange={onChange} depth={depth} />
      <details>
        <summary>
          More<span class="visually-hidden">: {what}</span>
        </summary>
        <div class="more">
          <label>
            Help
            <input value={textOf(field.schema, "description")} onInput={(e: Typed) => keyword("description", e.currentTarget.value || undefined)} placeholder="Help text for this field" />
          </label>
          <label>
            Name for programs and the search
            <input class="mono" spellcheck={false} value={field.name} onInput={(e: Typed) => onChange({ ...field, name: e.currentTarget.value, named: true })} />
          </label>
          {kind === "choice" && <Codes field={field} onChange={onChange} />}
        </div>
      </details>
    </fieldset>
  );
}

/** The controls that are specific to a kind. */
function Specifics({ field, kind, onChange, depth }: { field: BuilderField; kind: Kind; onChange: CardProps["onChange"]; depth: number }) {
  if (kind === "choice") return <Choices field={field} onChange={onChange} />;
  if (kind === "number" || kind === "integer") return <Bounds field={field} onChange={onChange} of={(s) => s} change={(to) => (s) => to(s)} />;
  if (kind === "quantity")
    return (
      <div class="specifics">
        <Units field={field} onChange={onChange} />
        <Bounds
          field={field}
          onChange={onChange}
          of={(s) => (s.properties as JsonObject).value as JsonObject}
          change={(to) => (s) => ({ ...s, properties: { ...(s.properties as JsonObject), value: to((s.properties as JsonObject).value as JsonObject) } })}
        />
      </div>
    );
  if (kind === "group") return <FieldList fields={field.fields} depth={depth + 1} onChange={(fields) => onChange({ ...field, fields })} add="Add a field to the group" />;
  if (kind === "json") return <JsonText field={field} onChange={onChange} />;
  return null;
}
