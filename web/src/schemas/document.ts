// A JSON Schema in the form builder. Each field keeps its part of the schema. The builder changes
// only the parts that it shows, and keeps unknown ones.
import type { Numeric, Value } from "../describe/metadata";
import { isNumber, parse } from "../describe/metadata";

export type Json = string | Numeric | boolean | null | Json[] | JsonObject;
export type JsonObject = { [name: string]: Json };

/** The kinds of fields in the builder. */
export type Kind = "text" | "longText" | "number" | "integer" | "quantity" | "truth" | "date" | "dateTime" | "choice" | "group" | "json";

export const kindLabels: Record<Kind, string> = {
  text: "Text",
  longText: "Long text",
  number: "Number",
  integer: "Whole number",
  quantity: "Number with a unit",
  truth: "Yes or no",
  date: "Date",
  dateTime: "Date and time",
  choice: "Choice",
  group: "Group of fields",
  json: "Something else (JSON)",
};

/** A property of an object. */
export interface BuilderField {
  key: number;
  /** The name of the property. */
  name: string;
  /** Whether the name still follows the label. */
  named: boolean;
  required: boolean;
  /** The schema of the property. */
  schema: Json;
  /** The fields of a group, also of a repeated one. */
  fields: BuilderField[];
  /** Invalid input: JSON, numbers, or choices that are not part of the schema yet. */
  typed: Record<string, string>;
}

/** A schema of an object. */
export interface SchemaDocument {
  /** The parts of the schema outside of the fields. */
  rest: JsonObject;
  fields: BuilderField[];
}

const isRecord = (v: unknown): v is JsonObject => typeof v === "object" && v !== null && !Array.isArray(v) && !isNumber(v as Value);
const has = (s: JsonObject, name: string) => Object.hasOwn(s, name);

/** Keywords that no form can show. */
const undrawn = ["$ref", "$dynamicRef", "allOf", "anyOf", "not", "if", "then", "else", "const", "dependentSchemas", "patternProperties", "prefixItems"];

/** Keywords that constrain an object beyond its fields. */
export const beyondFields = (s: JsonObject): string[] => [...undrawn, "oneOf", "dependentRequired", "propertyNames"].filter((k) => has(s, k));

const stringList = (v: Json | undefined): string[] | undefined => (Array.isArray(v) && v.every((one) => typeof one === "string") ? (v as string[]) : undefined);

/** The choices of a schema: plain values, or codes with labels. */
export function choicesOf(s: JsonObject): { value: string; label?: string }[] | undefined {
  const values = stringList(s.enum);
  if (values) return values.map((value) => ({ value }));
  if (!Array.isArray(s.oneOf) || !s.oneOf.length) return undefined;
  const codes = (s.oneOf as Json[]).map((one) => (isRecord(one) && typeof one.const === "string" && Object.keys(one).every((k) => k === "const" || k === "title") ? { value: one.const, label: String(one.title ?? one.const) } : undefined));
  return codes.every((c) => c !== undefined) ? codes : undefined;
}

/** The units of a quantity schema; empty: any. */
export function unitsOf(s: JsonObject): string[] {
  const unit = isRecord(s.properties) ? s.properties.unit : undefined;
  return (isRecord(unit) ? (stringList(unit.enum) ?? (typeof unit.const === "string" ? [unit.const] : undefined)) : undefined) ?? [];
}

function isQuantitySchema(s: JsonObject): boolean {
  const { properties } = s;
  if (!isRecord(properties) || Object.keys(properties).sort().join() !== "unit,value") return false;
  const { value, unit } = properties;
  return isRecord(value) && value.type === "number" && isRecord(unit) && (unit.type === "string" || !!unitsOf(s).length) && beyondFields(unit).every((k) => k === "const");
}

/** The schema of the items of a list, or of the property itself if it is not a list. */
export const inner = (schema: Json): Json => (isRecord(schema) && schema.type === "array" && isRecord(schema.items) ? schema.items : schema);

/** Whether a property is a list whose items the builder can show. */
export const isRepeated = (schema: Json): boolean => inner(schema) !== schema;

function kindOfText(s: JsonObject): Kind {
  if (s.format === "date") return "date";
  if (s.format === "date-time") return "dateTime";
  return (typeof s.maxLength === "number" && s.maxLength > 200) || s.contentMediaType === "text/plain" ? "longText" : "text";
}

/** The builder kind of a schema. */
export function kindOf(schema: Json): Kind {
  const s = inner(schema);
  if (!isRecord(s) || !isRecord(schema) || undrawn.some((k) => has(s, k) || has(schema, k))) return "json";
  if (has(s, "enum") || has(s, "oneOf")) return choicesOf(s) ? "choice" : "json";
  switch (s.type) {
    case "string":
      return kindOfText(s);
    case "number":
    case "integer":
      return s.type;
    case "boolean":
      return "truth";
    case "object":
      return isQuantitySchema(s) ? "quantity" : isRecord(s.properties) ? "group" : "json";
  }
  return "json";
}

let keys = 0;

export const newField = (schema: Json = { title: "", type: "string" }): BuilderField => ({ key: ++keys, name: "", named: false, required: false, schema, fields: [], typed: {} });

/** Sorts fields by x-order; fields without it come last. */
const orderOf = ({ schema }: BuilderField) => (isRecord(schema) && typeof schema["x-order"] === "number" ? schema["x-order"] : Infinity);

function fieldsOf(s: JsonObject): BuilderField[] {
  const required = stringList(s.required) ?? [];
  const fields = Object.entries(isRecord(s.properties) ? s.properties : {}).map(([name, schema]) => {
    const field = { ...newField(schema), name, named: true, required: required.includes(name) };
    return kindOf(schema) === "group" ? { ...field, fields: fieldsOf(inner(schema) as JsonObject) } : field;
  });
  return fields.sort((a, b) => (orderOf(a) === orderOf(b) ? 0 : orderOf(a) - orderOf(b)));
}

/** Parses a schema. Throws the problem if the text is not an object schema. */
export function readDocument(schema: unknown): SchemaDocument {
  if (!isRecord(schema)) throw new Error("A schema must be an object: { … }.");
  if (has(schema, "properties") && !isRecord(schema.properties)) throw new Error("“properties” must be an object.");
  return { rest: schema, fields: fieldsOf(schema) };
}

/** The parts of an object schema that follow from its fields. Required names without a field stay.
 */
function withFields(s: JsonObject, fields: BuilderField[]): JsonObject {
  const known = isRecord(s.properties) ? Object.keys(s.properties) : [];
  const written = fields.filter((f) => f.name);
  const others = (stringList(s.required) ?? []).filter((name) => !known.includes(name) && written.every((f) => f.name !== name));
  const required = [...written.filter((f) => f.required).map((f) => f.name), ...others];
  const result: JsonObject = { ...s, properties: Object.fromEntries(written.map((f) => [f.name, writeField(f)])), required };
  if (!required.length) delete result.required;
  return result;
}

function writeField({ schema, fields }: BuilderField): Json {
  if (kindOf(schema) !== "group") return schema;
  const group = withFields(inner(schema) as JsonObject, fields);
  return isRepeated(schema) ? { ...(schema as JsonObject), items: group } : group;
}

/** The schema of a document. */
export const writeDocument = ({ rest, fields }: SchemaDocument): JsonObject => withFields(rest, fields);

/** Whether a field is still empty. */
export const isBlank = (f: BuilderField) => !f.name && !labelOf(f) && kindOf(f.schema) === "text" && !isRepeated(f.schema);

export const parseJson = (text: string): Json => parse(text) as Json;

/** A text of a schema, such as its title. */
export const textOf = (schema: Json, name: string): string => (isRecord(schema) && typeof schema[name] === "string" ? schema[name] : "");

export const labelOf = (f: BuilderField): string => textOf(f.schema, "title") || (f.named ? f.name : "");

/** A schema with another value of a keyword; undefined removes the keyword. Keywords keep their
    positions. */
export function withKeyword(schema: Json, name: string, value: Json | undefined): Json {
  const s = isRecord(schema) ? { ...schema } : {};
  if (value === undefined) delete s[name];
  else s[name] = value;
  return s;
}

/** Changes the schema of the list items, or of the property itself. */
export const mapInner = (schema: Json, to: (s: JsonObject) => JsonObject): Json => (isRepeated(schema) ? withKeyword(schema, "items", to(inner(schema) as JsonObject)) : to(isRecord(schema) ? schema : {}));

/** The initial keywords of each kind. */
const bases: Record<Exclude<Kind, "json">, JsonObject> = {
  text: { type: "string" },
  longText: { type: "string", contentMediaType: "text/plain" },
  number: { type: "number" },
  integer: { type: "integer" },
  quantity: { type: "object", properties: { value: { type: "number" }, unit: { type: "string" } }, required: ["value", "unit"] },
  truth: { type: "boolean" },
  date: { type: "string", format: "date" },
  dateTime: { type: "string", format: "date-time" },
  choice: { enum: [] },
  group: { type: "object", properties: {} },
};

const kept = ["title", "description", "x-order"];

/** A field converted to another kind, with its label and help. */
export function ofKind(f: BuilderField, kind: Kind): BuilderField {
  if (kind === "json") return f;
  const s = isRecord(f.schema) ? f.schema : {};
  const common = Object.fromEntries(Object.entries(s).filter(([name]) => kept.includes(name)));
  const base = structuredClone(bases[kind]);
  const bounds = Object.fromEntries(["minimum", "maximum"].flatMap((name) => (has(s, name) && (kind === "number" || kind === "integer") ? [[name, s[name]!]] : [])));
  const schema = isRepeated(f.schema) ? { ...common, type: "array", items: { ...base, ...bounds } } : { ...common, ...base, ...bounds };
  return { ...f, schema, typed: {}, fields: kind === "group" ? (f.fields.length ? f.fields : [newField()]) : f.fields };
}

/** Converts a field to a list, or back. */
export function repeated(f: BuilderField, is: boolean): BuilderField {
  if (is === isRepeated(f.schema) || !isRecord(f.schema)) return f;
  const outer = Object.fromEntries(Object.entries(f.schema).filter(([name]) => kept.includes(name)));
  if (!is) return { ...f, schema: { ...outer, ...(inner(f.schema) as JsonObject) } };
  return { ...f, schema: { ...outer, type: "array", items: Object.fromEntries(Object.entries(f.schema).filter(([name]) => !kept.includes(name))) } };
}

/** The property name derived from a label: sample_id for "Sample ID". */
export function nameFor(label: string): string {
  const name = label
    .normalize("NFC")
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{Nd}]+/gu, "_")
    .replace(/^_+|_+$/g, "")
    .slice(0, 60);
  // JavaScript orders numeric keys first in every object
  return /^\d+$/.test(name) ? `field_${name}` : name;
}

/** A name that no other field has. */
export function freeName(name: string, others: BuilderField[]): string {
  let free = name;
  for (let n = 2; free && others.some((o) => o.name === free); n++) free = `${name}_${n}`;
  return free;
}

/** Moves a field by one position. x-order keywords are removed, so that the position decides. */
export function moved(fields: BuilderField[], at: number, by: number): BuilderField[] {
  const to = at + by;
  if (to < 0 || to >= fields.length) return fields;
  const plain = fields.map((f) => (orderOf(f) < Infinity ? { ...f, schema: withKeyword(f.schema, "x-order", undefined) } : f));
  return plain.toSpliced(at, 1).toSpliced(to, 0, plain[at]!);
}

/** A schema as indented text. */
export const schemaText = (schema: unknown) => JSON.stringify(schema, null, 2);
