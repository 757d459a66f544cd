// The rows in which properties are edited: name, value and unit. The kind of a value is detected
// from its text.
import { useId } from "preact/hooks";
import { notNumber, readNumber } from "../numbers";
import { IconButton, Button } from "../ui/components";
import { useFocusOnRows } from "./focus";
import type { Group, Source, Value } from "./metadata";
import { isNumber, isNumeric, isQuantity, numberOf, numberText, parse, sourceLabels } from "./metadata";

const kinds = { text: "text", number: "number", truth: "yes or no", date: "date", list: "JSON" };
type ValueKind = keyof typeof kinds;

/** The input of a property. */
export interface Row {
  key: number;
  name: string;
  text: string;
  unit: string;
  /** Unset if the detected kind applies. */
  kind?: ValueKind;
  /** Whether it is edited in several lines. */
  long: boolean;
}

const isDate = (text: string) => /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?)?$/.test(text);
const truths = new Map([
  ["true", true],
  ["yes", true],
  ["false", false],
  ["no", false],
]);

/** Whether a text is a number, or has two readings as a number, such as 37,5. */
const isTypedNumber = (text: string) => /[,.'’\s−]/.test(text) && readNumber(text).error !== notNumber;

function recognised(text: string): ValueKind {
  if (isNumeric(text) || isTypedNumber(text)) return "number";
  if (truths.has(text)) return "truth";
  if (isDate(text)) return "date";
  return /^[[{]/.test(text) ? "list" : "text";
}

const kindOf = ({ kind, text }: Row) => kind ?? recognised(text.trim());

let keys = 0;
export const emptyRow = (): Row => ({ key: ++keys, name: "", text: "", unit: "", long: false });

function rowOf(name: string, v: Value): Row {
  const row = { ...emptyRow(), name };
  if (isQuantity(v)) return { ...row, text: numberText(v.value), unit: v.unit };
  if (isNumber(v)) return { ...row, text: numberText(v) };
  if (typeof v === "boolean") return { ...row, text: v ? "yes" : "no" };
  if (typeof v !== "string") return { ...row, text: JSON.stringify(v), long: true };
  const kind = recognised(v.trim());
  return { ...row, text: v, long: v.includes("\n") || v.length > 60, ...(kind !== "text" && kind !== "date" && { kind: "text" as const }) };
}

export const rowsOf = (properties: Group = {}) => Object.entries(properties).map(([name, v]) => rowOf(name, v));

export const nameOf = (row: Row) => row.name.trim().normalize("NFC");
const isEmpty = (row: Row) => !row.name.trim() && !row.text.trim();

/** The value of a row, or the reason why it has none. */
function valueOf(row: Row): { value: Value } | { error: string } {
  const kind = kindOf(row);
  const text = kind === "text" ? row.text : row.text.trim();
  if (kind === "number") {
    const { number, error } = readNumber(text);
    if (error !== undefined) return { error };
    const value = numberOf(number);
    const unit = row.unit.trim();
    return { value: unit ? { value, unit } : value };
  }
  if (kind === "truth") return truths.has(text) ? { value: truths.get(text)! } : { error: "Write yes or no." };
  if (kind === "date") return isDate(text) ? { value: text } : { error: "Write the date as 2026-01-31 or 2026-01-31T10:20Z." };
  if (kind === "text") return { value: text };
  try {
    return { value: parse(text) as Value };
  } catch {
    return { error: 'This is not JSON. Write a list as ["a", 1], a group as {"id": "S1"}.' };
  }
}

/** The properties of the valid rows. */
export const propertiesOf = (rows: Row[]): Group =>
  Object.fromEntries(
    rows.flatMap((row) => {
      const found = isEmpty(row) ? undefined : valueOf(row);
      return found && "value" in found ? [[nameOf(row), found.value]] : [];
    }),
  );

interface RowsProps {
  rows: Row[];
  legend?: string | undefined;
  /** Whether other properties are forbidden. */
  closed?: boolean | undefined;
  /** The names of fields elsewhere in the form. */
  reserved?: string[];
  sources?: Record<string, Source> | undefined;
  onChange: (rows: Row[]) => void;
  /** The service's error for a property. */
  errorOf: (name: string) => string | undefined;
}

export function PropertyRows({ rows, legend = "Properties", closed = false, reserved = [], sources = {}, onChange, errorOf }: RowsProps) {
  const change = (row: Row) => onChange(rows.map((r) => (r.key === row.key ? row : r)));
  const ref = useFocusOnRows<HTMLFieldSetElement>(rows.length, ".property");
  if (closed && !rows.length) return null;
  return (
    <fieldset ref={ref}>
      <legend>{legend}</legend>
      {closed && <p class="error">The form does not allow these.</p>}
      {rows.map((row, i) => (
        <PropertyRow
          key={row.key}
          row={row}
          number={i + 1}
          onChange={change}
          remove={() => onChange(rows.filter((r) => r.key !== row.key))}
          taken={reserved.includes(nameOf(row)) || rows.some((r) => r.key !== row.key && nameOf(r) && nameOf(r) === nameOf(row))}
          source={sources[nameOf(row)]}
          error={nameOf(row) ? errorOf(nameOf(row)) : undefined}
        />
      ))}
      <Button icon="plus" class="tight" disabled={closed} onClick={() => onChange([...rows, emptyRow()])}>
        Add a property
      </Button>
      <p class="hint">Such as temperature, 20, °C. Numbers, dates (2026-01-31), and yes or no are recognised; so are lists and groups in JSON.</p>
    </fieldset>
  );
}

interface PropertyProps {
  row: Row;
  number: number;
  onChange: (row: Row) => void;
  /** Absent if the row cannot be removed. */
  remove?: () => void;
  /** Whether another row or field has the same name. */
  taken?: boolean;
  /** The source of the value, unless a person entered it. */
  source?: Source | undefined;
  error: string | undefined;
}

/** Sets the validity of a control, so that the browser does not send an invalid form. */
const validity = (error: string) => (e: HTMLInputElement | HTMLTextAreaElement | null) => e?.setCustomValidity(error);

export function PropertyRow({ row, number, onChange, remove, taken = false, source, error }: PropertyProps) {
  const id = useId();
  const kind = kindOf(row);
  const empty = isEmpty(row) && remove !== undefined;
  const found = row.text.trim() || row.name.trim() ? valueOf(row) : undefined;
  const own = found && "error" in found && row.text ? found.error : "";
  const mine = taken ? "Another property has this name." : own;
  const described = { "aria-describedby": `${id}-error` };
  const value = {
    value: row.text,
    placeholder: "value",
    spellcheck: false,
    required: !empty,
    "aria-label": `Value ${number}`,
    "aria-invalid": !!own || !!error,
    onInput: (e: { currentTarget: { value: string } }) => onChange({ ...row, text: e.currentTarget.value }),
    ref: validity(own),
    ...described,
  };
  return (
    <div class="property">
      <input
        value={row.name}
        placeholder="name"
        spellcheck={false}
        required={!empty}
        aria-label={`Name ${number}`}
        aria-invalid={taken || !!error}
        ref={validity(taken ? mine : "")}
        onInput={(e) => onChange({ ...row, name: e.currentTarget.value })}
        {...described}
      />
      {row.long ? <textarea rows={2} {...value} /> : <input {...value} />}
      <input
        value={kind === "number" ? row.unit : ""}
        disabled={kind !== "number"}
        placeholder={kind === "number" ? "unit" : ""}
        spellcheck={false}
        aria-label={`Unit ${number}`}
        onInput={(e) => onChange({ ...row, unit: e.currentTarget.value })}
      />
      <select aria-label={`Kind ${number}`} value={kind} onChange={(e) => onChange({ ...row, kind: e.currentTarget.value as ValueKind })}>
        {Object.entries(kinds).map(([value, label]) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </select>
      {remove && <IconButton icon="cross" label={`Remove property ${number}${row.name && `, ${row.name}`}`} onClick={remove} />}
      {source && <p class="hint">{sourceLabels[source]}</p>}
      <p class="error" id={`${id}-error`} role="alert">
        {mine || error}
      </p>
    </div>
  );
}
