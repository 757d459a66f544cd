// The fields of a schema's form.
import type { ComponentChildren } from "preact";
import { useId, useState } from "preact/hooks";
import type { FormField, PropertyProblem } from "../api";
import { Badge, Button, IconButton } from "../ui/components";
import type { Cell } from "./cells";
import { bounds, cellOf, objection, read } from "./cells";
import { useFocusOnRows } from "./focus";
import type { Source } from "./metadata";
import { sourceLabels } from "./metadata";
import { step } from "./problems";

/** The props that all fields of a form share. */
interface Context {
  /** The problem of a field, by its JSON pointer. */
  problemsAt: (path: string) => string;
  /** The service's problem for a field; it stays until the form is sent again. */
  refusedAt: (path: string) => string;
  /** Whether a value that violates its field blocks the form. */
  enforce: boolean;
}

interface FieldProps extends Context {
  field: FormField;
  cell: Cell;
  onChange: (cell: Cell) => void;
  path: string;
  /** The label; by default the label of the field. */
  label?: string;
  /** Whether the field counts as missing when it is empty. */
  counts: boolean;
  source?: Source | undefined;
  /** Removes it from its list. */
  remove?: (() => void) | undefined;
}

interface Props extends Context {
  fields: FormField[];
  cells: Cell[];
  onChange: (cells: Cell[]) => void;
  path?: string;
  counts?: boolean;
  sources?: Record<string, Source> | undefined;
}

export function FormFields({ fields, cells, onChange, path = "", counts = true, sources = {}, ...context }: Props) {
  return (
    <>
      {fields.map((field, i) => (
        <FieldOf
          key={field.name}
          field={field}
          cell={cells[i]!}
          onChange={(cell) => onChange(cells.with(i, cell))}
          path={path + step(field.name!)}
          counts={counts}
          source={cells[i]!.changed ? undefined : sources[field.name!]}
          {...context}
        />
      ))}
    </>
  );
}

function FieldOf(props: FieldProps) {
  if (props.field.kind === "list") return <ListField {...props} />;
  if (props.field.kind === "group") return <GroupField {...props} />;
  return <ScalarField {...props} />;
}

function Notes({ field, source, wrong, id }: { field: FormField; source?: Source | undefined; wrong: string; id: string }) {
  const range = bounds(field);
  return (
    <>
      {(field.help || range || source) && (
        <p class="hint" id={`${id}-hint`}>
          {field.help} {range && <span class="dim">({range})</span>} {source && <Badge tone="accent">{sourceLabels[source]}</Badge>}
        </p>
      )}
      <p class="error" id={`${id}-error`} role="alert">
        {wrong}
      </p>
    </>
  );
}

function ScalarField({ field, cell, onChange, path, label = field.label, counts, source, remove, problemsAt, refusedAt, enforce }: FieldProps) {
  const id = useId();
  const [left, setLeft] = useState(false);
  const { value, error = "" } = read(field, cell);
  const required = !!field.required && counts;
  const mine = cell.changed ? error || objection({ ...field, required }, value) : "";
  const wrong = refusedAt(path) || (cell.changed ? left && mine : problemsAt(path)) || "";
  const strict = enforce ? objection({ ...field, required, pattern: "" }, value) : "";
  const attributes = {
    id,
    "aria-invalid": !!wrong,
    "aria-describedby": `${id}-hint ${id}-error`,
    "aria-required": required,
    onBlur: () => setLeft(true),
    ref: (e: HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement | null) => e?.setCustomValidity((cell.changed && error) || strict),
  };
  return (
    <div class="field">
      <label for={id} class={required ? "required" : ""}>
        {label}
      </label>
      <div class="with-remove">
        <Control field={field} cell={cell} label={label} onChange={(typed) => onChange({ ...cell, ...typed, changed: true })} attributes={attributes} />
        {remove && <IconButton icon="cross" label={`Remove ${label}`} onClick={remove} />}
      </div>
      <Notes field={field} source={source} wrong={wrong} id={id} />
    </div>
  );
}

interface ControlProps {
  field: FormField;
  cell: Cell;
  label: string;
  onChange: (typed: Partial<Cell>) => void;
  attributes: object;
}

type Typed = { currentTarget: { value: string } };

function Control({ field, cell, label, onChange, attributes }: ControlProps) {
  const { kind, choices = [], units = [] } = field;
  const { text } = cell;
  const control = { ...attributes, value: text };
  const onInput = (e: Typed) => onChange({ text: e.currentTarget.value });
  if (kind === "choice") return <Select options={choices.map((c, i) => [String(i), c.label])} text={text} onInput={onInput} attributes={attributes} />;
  if (kind === "truth")
    return (
      <Select
        options={[
          ["true", "yes"],
          ["false", "no"],
        ]}
        text={text}
        onInput={onInput}
        attributes={attributes}
      />
    );
  if (kind === "longText" || kind === "json") return <textarea rows={2} spellcheck={kind === "longText"} onInput={onInput} {...control} />;
  if (kind === "date" && (!text || /^\d{4}-\d\d-\d\d$/.test(text))) return <input type="date" max="9999-12-31" onInput={onInput} {...control} />;
  if (kind === "dateTime" && (!text || /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?$/.test(text)))
    return <input type="datetime-local" step={1} max="9999-12-31T23:59:59" onInput={onInput} {...control} />;
  if (kind !== "quantity") return <input inputMode={kind === "number" ? "decimal" : kind === "integer" ? "numeric" : "text"} spellcheck={kind === "text"} onInput={onInput} {...control} />;
  const unit = { "aria-label": `Unit of ${label}`, value: cell.unit, onInput: (e: Typed) => onChange({ unit: e.currentTarget.value }) };
  return (
    <div class="quantity">
      <input inputMode="decimal" spellcheck={false} onInput={onInput} {...control} />
      {units.length === 1 && cell.unit === units[0] ? (
        <span class="dim">{units[0]}</span>
      ) : units.length ? (
        <select {...unit}>
          {[...new Set([...units, cell.unit])].map((one) => (
            <option key={one} value={one}>
              {one || "no unit"}
            </option>
          ))}
        </select>
      ) : (
        <input placeholder="unit" spellcheck={false} {...unit} />
      )}
    </div>
  );
}

/** An optional choice. A value outside of the options becomes another option. */
function Select({ options, text, onInput, attributes }: { options: [value: string, label: string][]; text: string; onInput: (e: Typed) => void; attributes: object }) {
  const other = text && options.every(([value]) => value !== text);
  return (
    <select {...attributes} value={text} onInput={onInput}>
      <option value="" />
      {options.map(([value, label]) => (
        <option key={value} value={value}>
          {label}
        </option>
      ))}
      {other && <option value={text}>{text}</option>}
    </select>
  );
}

/** The legend of a list or a group, with its help and its own problem. */
function Several({ props, children }: { props: FieldProps; children: ComponentChildren }) {
  const { field, path, label = field.label, counts, source, problemsAt, refusedAt } = props;
  const id = useId();
  return (
    <fieldset class="several" aria-describedby={`${id}-hint ${id}-error`}>
      <legend class={field.required && counts ? "required" : ""}>{label}</legend>
      <Notes field={field} source={source} wrong={refusedAt(path) || problemsAt(path)} id={id} />
      {children}
    </fieldset>
  );
}

function ListField(props: FieldProps) {
  const { field, cell, onChange, path, label = field.label, counts, problemsAt, refusedAt, enforce } = props;
  const item = field.item!;
  const ref = useFocusOnRows<HTMLDivElement>(cell.items.length, ".item");
  const change = (items: Cell[]) => onChange({ ...cell, items, changed: true });
  const required = !!field.required && counts;
  return (
    <Several props={props}>
      <div ref={ref}>
        {cell.items.map((one, i) => (
          <div class="item" key={one.key}>
            <FieldOf
              field={{ ...item, required: item.kind !== "group" && required && i === 0 }}
              cell={one}
              onChange={(to) => onChange({ ...cell, items: cell.items.with(i, to) })}
              path={`${path}/${i}`}
              label={`${item.label || label} ${i + 1}`}
              counts={counts}
              remove={() => change(cell.items.toSpliced(i, 1))}
              {...{ problemsAt, refusedAt, enforce }}
            />
          </div>
        ))}
        <Button icon="plus" class="tight" onClick={() => change([...cell.items, cellOf(item)])}>
          {cell.items.length ? "Add another" : "Add"} <span class="visually-hidden">: {label}</span>
        </Button>
      </div>
    </Several>
  );
}

function GroupField(props: FieldProps) {
  const { field, cell, onChange, path, label = field.label, counts, remove, problemsAt, refusedAt, enforce } = props;
  const filled = read(field, cell).value !== undefined;
  return (
    <Several props={props}>
      <div class="parts">
        <FormFields
          fields={field.fields ?? []}
          cells={cell.parts}
          onChange={(parts) => onChange({ ...cell, parts })}
          path={path}
          counts={filled || (counts && !!field.required)}
          {...{ problemsAt, refusedAt, enforce }}
        />
        {remove && (
          <Button icon="cross" class="tight" onClick={remove}>
            Remove <span class="visually-hidden">{label}</span>
          </Button>
        )}
      </div>
    </Several>
  );
}

/** The JSON pointers of all drawn fields. */
export function drawnPaths(fields: FormField[], cells: Cell[], within = ""): string[] {
  const at = (field: FormField, cell: Cell, path: string): string[] => [
    path,
    ...(field.kind === "group" ? drawnPaths(field.fields ?? [], cell.parts, path) : cell.items.flatMap((one, i) => at(field.item!, one, `${path}/${i}`))),
  ];
  return fields.flatMap((field, i) => (cells[i] ? at(field, cells[i], within + step(field.name!)) : []));
}

/** The innermost field on a path; "" without one. */
export function fieldAt(drawn: string[], path: string): string {
  return drawn.filter((p) => path === p || path.startsWith(`${p}/`)).reduce((a, b) => (b.length > a.length ? b : a), "");
}

/** The problems of each field, by path; problems without a field are at "". */
export function problemsByField(problems: PropertyProblem[], drawn: string[]): Map<string, PropertyProblem[]> {
  const by = new Map<string, PropertyProblem[]>();
  for (const problem of problems) {
    const field = fieldAt(drawn, problem.path);
    by.set(field, [...(by.get(field) ?? []), problem]);
  }
  return by;
}
