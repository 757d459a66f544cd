// The schema of Arrow: fields, their types, and their number of buffers in a batch.
import { Refused } from "../lib/serve";
import type { Table } from "./flatbuffer";

export type Kind =
  | "null" | "int" | "float" | "bool" | "decimal" | "date" | "time" | "timestamp" | "duration" | "interval" | "binary" | "utf8" | "fixed" | "view" | "list" | "listview"
  | "fixedlist" | "struct" | "map" | "union" | "runs";

export interface Field {
  name: string;
  nullable: boolean;
  kind: Kind;
  /** Such as "timestamp (us, UTC)". */
  type: string;
  /** Bytes of a value or of an offset; 0 means bits. */
  size: number;
  signed: boolean;
  /** The number of units per second; for dates, per day. */
  per: bigint;
  utc: boolean;
  scale: number;
  text: boolean;
  /** For a list: the number of values of each. For a union: the type id of each child, and whether
      it is dense. */
  length: number;
  ids: number[];
  dense: boolean;
  children: Field[];
  /** For a dictionary: the type of its indices. */
  index?: { id: bigint; size: number; signed: boolean };
  metadata: [string, string][];
}

const maxFields = 100_000;
const maxDepth = 64;

const units = ["s", "ms", "us", "ns"];
const perSecond = [1n, 1_000n, 1_000_000n, 1_000_000_000n];

type Typed = Partial<Field> & Pick<Field, "kind" | "type">;

const unitOf = (t: Table, otherwise: number) => Math.min(3, Math.max(0, t.short(0, otherwise)));

function floatOf(t: Table): Typed {
  const bits = [16, 32, 64][t.short(0)] ?? 64;
  return { kind: "float", type: `float${bits}`, size: bits / 8 };
}

const sizes = (name: string, kind: Kind, size: number, text = false) => (): Typed => ({ kind, type: name, size, text });

function unionOf(t: Table): Typed {
  const { at, length, view } = t.vector(1, 4);
  const dense = t.short(0) === 1;
  return { kind: "union", type: dense ? "dense union" : "sparse union", dense, ids: Array.from({ length }, (_, i) => view.getInt32(at + 4 * i, true)) };
}

/** By type number. */
const typesOf: Record<number, (t: Table) => Typed> = {
  1: sizes("null", "null", 0),
  2: (t) => ({ kind: "int", type: `${t.byte(1) ? "" : "u"}int${t.int(0)}`, size: t.int(0) / 8, signed: t.byte(1) !== 0 }),
  3: floatOf,
  4: sizes("binary", "binary", 4),
  5: sizes("utf8", "utf8", 4, true),
  6: sizes("bool", "bool", 0),
  7: (t) => ({ kind: "decimal", type: `decimal (${t.int(0)}, ${t.int(1)})`, size: t.int(2, 128) / 8, scale: t.int(1) }),
  8: (t) => (t.short(0, 1) === 0 ? { kind: "date", type: "date32", size: 4, per: 1n } : { kind: "date", type: "date64", size: 8, per: 86_400_000n }),
  9: (t) => ({ kind: "time", type: `time (${units[unitOf(t, 1)]})`, size: t.int(1, 32) / 8, signed: true, per: perSecond[unitOf(t, 1)]! }),
  10: (t) => ({ kind: "timestamp", type: `timestamp (${[units[unitOf(t, 0)], t.text(1)].filter(Boolean).join(", ")})`, size: 8, per: perSecond[unitOf(t, 0)]!, utc: t.text(1) !== "" }),
  11: (t) => ({ kind: "interval", type: `interval (${["months", "days", "months, days, ns"][t.short(0)]})`, size: [4, 8, 16][t.short(0)] ?? 16 }),
  12: sizes("list", "list", 4),
  13: sizes("struct", "struct", 0),
  14: unionOf,
  15: (t) => ({ kind: "fixed", type: `binary of ${t.int(0)} bytes`, size: t.int(0) }),
  16: (t) => ({ kind: "fixedlist", type: `list of ${t.int(0)}`, length: t.int(0) }),
  17: sizes("map", "map", 4),
  18: (t) => ({ kind: "duration", type: `duration (${units[unitOf(t, 1)]})`, size: 8, scale: unitOf(t, 1) }),
  19: sizes("large binary", "binary", 8),
  20: sizes("large utf8", "utf8", 8, true),
  21: sizes("large list", "list", 8),
  22: sizes("runs", "runs", 0),
  23: sizes("binary view", "view", 16),
  24: sizes("utf8 view", "view", 16, true),
  25: sizes("list view", "listview", 4),
  26: sizes("large list view", "listview", 8),
};

export const unitName = ({ scale }: Field) => units[scale]!;

export const pairs = (t: Table, field: number): [string, string][] => t.tables(field).map((pair) => [pair.text(0), pair.text(1)]);

/** The fields of a schema. Offsets of FlatBuffers can point back, so depth and number are limited.
 */
export function fieldsOf(tables: Table[], counted = { fields: 0 }, depth = 0): Field[] {
  if (depth > maxDepth) throw new Refused(`Its schema has more than ${maxDepth} levels.`);
  return tables.map((t) => {
    if (++counted.fields > maxFields) throw new Refused(`Its schema has more than ${maxFields} fields.`);
    const type = t.table(3);
    const made = type && typesOf[t.byte(2)]?.(type);
    if (!made) throw new Refused(`A field has the type ${t.byte(2)}, which is not known.`);
    if (made.size !== undefined && !(made.size >= 0 && made.size <= 1 << 20)) throw new Refused(`A field has the size ${made.size}, which is not valid.`);
    const field: Field = {
      signed: true, per: 1n, utc: false, scale: 0, text: false, length: 0, ids: [], dense: false, size: 0, ...made, name: t.text(0), nullable: t.byte(1) !== 0,
      children: fieldsOf(t.tables(5), counted, depth + 1), metadata: pairs(t, 6),
    };
    const dictionary = t.table(4);
    if (!dictionary) return field;
    const index = dictionary.table(1);
    return { ...field, type: `dictionary of ${field.type}`, index: { id: dictionary.long(0), size: (index?.int(0) ?? 32) / 8, signed: index ? index.byte(1) !== 0 : true } };
  });
}

/** A field with its position in a batch. */
export interface Column {
  field: Field;
  node: number;
  /** The index of the first one, and the count. */
  buffer: number;
  buffers: number;
  children: Column[];
}

function buffersOf(field: Field, old: boolean): number {
  if (field.kind === "null" || field.kind === "runs") return 0;
  if (field.kind === "union") return (field.dense ? 2 : 1) + (old ? 1 : 0);
  if (field.kind === "struct" || field.kind === "fixedlist") return 1;
  return field.kind === "binary" || field.kind === "utf8" || field.kind === "listview" ? 3 : 2;
}

/** Assigns positions in a batch: fields in order, each followed by its children. */
export function layout(fields: Field[], variadic: number[], old: boolean): Column[] {
  const next = { node: 0, buffer: 0, view: 0 };
  const place = (field: Field): Column => {
    const [node, buffer] = [next.node++, next.buffer];
    if (field.index) {
      next.buffer += 2;
      return { field, node, buffer, buffers: 2, children: [] };
    }
    const buffers = buffersOf(field, old) + (field.kind === "view" ? (variadic[next.view++] ?? 0) : 0);
    next.buffer += buffers;
    return { field, node, buffer, buffers, children: field.children.map(place) };
  };
  return fields.map(place);
}
