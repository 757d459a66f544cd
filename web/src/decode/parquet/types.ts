// Parquet types: names, and values as cells show them.
import type { SchemaElement } from "hyparquet/src/types";
import { bigEndian, dateText, decimalText, hexText, type Plain, single, timestampText, timeText, utf8Text } from "../lib/cells";

const perSecond: Record<string, bigint> = { MILLIS: 1_000n, MICROS: 1_000_000n, NANOS: 1_000_000_000n };

interface Logical {
  kind: string;
  unit: bigint;
  utc: boolean;
  scale: number;
}

/** The logical type, from the new or the old annotation of the file. */
function logicalOf({ logical_type: type, converted_type: converted = "", scale }: SchemaElement): Logical {
  const old = /^(TIME|TIMESTAMP)_(MILLIS|MICROS)$/.exec(converted);
  const kind = type?.type ?? old?.[1] ?? (converted === "UTF8" ? "STRING" : converted);
  const unsigned = type?.type === "INTEGER" ? !type.isSigned : /^UINT/.test(converted);
  return {
    kind: kind === "INTEGER" || /^U?INT_/.test(kind) ? (unsigned ? "UNSIGNED" : "") : kind,
    unit: perSecond[type?.unit ?? old?.[2] ?? ""] ?? 1_000_000n,
    utc: type?.isAdjustedToUTC ?? old !== null,
    scale: type?.scale ?? scale ?? 0,
  };
}

/** Such as "int64, timestamp (micros, UTC)". */
export function typeName(element: SchemaElement): string {
  const { logical_type: type, converted_type: converted, precision } = element;
  const physical = (element.type ?? "group").toLowerCase() + (element.type_length ? ` of ${element.type_length} bytes` : "");
  const name = (type?.type ?? converted ?? "").toLowerCase();
  const about = [
    type?.unit?.toLowerCase(), type?.isAdjustedToUTC && "UTC", name === "decimal" && `${type?.precision ?? precision ?? "?"}, ${type?.scale ?? element.scale ?? 0}`,
    type?.bitWidth && `${type.bitWidth} bits${type.isSigned ? "" : ", unsigned"}`,
  ].filter(Boolean);
  return [physical, name && name + (about.length ? ` (${about.join(", ")})` : "")].filter(Boolean).join(", ");
}

const isPrintable = (text: string) => !/[\0-\x08\x0e-\x1f\x7f\ufffd]/.test(text);

function half(bytes: Uint8Array): number {
  const bits = bytes[0]! | (bytes[1]! << 8);
  const [exponent, part] = [(bits >> 10) & 31, bits & 1023];
  const size = exponent === 31 ? (part ? NaN : Infinity) : exponent ? (1 + part / 1024) * 2 ** (exponent - 15) : part * 2 ** -24;
  return bits & 0x8000 ? -size : size;
}

function bytesValue(bytes: Uint8Array, { kind, scale }: Logical, fixed: boolean): Plain {
  if (kind === "DECIMAL") return decimalText(bigEndian(bytes.subarray(0, 64)), scale);
  if (kind === "STRING" || kind === "ENUM" || kind === "JSON") return utf8Text(bytes);
  if (kind === "FLOAT16" && bytes.length === 2) return half(bytes);
  if (kind === "UUID" && bytes.length === 16) return hexText(bytes).slice(2).replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
  if (kind === "INTERVAL" && bytes.length === 12) {
    const view = new DataView(bytes.buffer, bytes.byteOffset, 12);
    return `${view.getUint32(0, true)} months ${view.getUint32(4, true)} days ${view.getUint32(8, true)} ms`;
  }
  const text = kind || fixed ? undefined : utf8Text(bytes); // older writers do not mark text
  return text !== undefined && isPrintable(text) ? text : hexText(bytes);
}

function numberValue(value: number | bigint, { kind, unit, utc, scale }: Logical): Plain {
  if (kind === "DECIMAL") return decimalText(BigInt(value), scale);
  if (kind === "DATE") return dateText(Number(value));
  if (kind === "TIME") return timeText(BigInt(value), unit);
  if (kind === "TIMESTAMP") return timestampText(BigInt(value), unit, utc);
  if (kind === "UNSIGNED") return typeof value === "bigint" ? BigInt.asUintN(64, value) : value >>> 0;
  return value;
}

/** Converts stored values to cell values. */
export function valueOf(element: SchemaElement): (stored: unknown) => Plain {
  const logical = logicalOf(element);
  return (stored) => {
    if (stored === null || stored === undefined) return null;
    if (stored instanceof Uint8Array) return bytesValue(stored, logical, element.type === "FIXED_LEN_BYTE_ARRAY");
    if (element.type === "INT96") {
      const both = BigInt.asUintN(96, stored as bigint); // days of the Julian calendar, and nanoseconds
      return timestampText(((both >> 64n) - 2440588n) * 86_400_000_000_000n + BigInt.asIntN(64, both), 1_000_000_000n, false);
    }
    if (element.type === "FLOAT") return single(stored as number);
    if (element.type === "INT32" || element.type === "INT64") return numberValue(stored as number | bigint, logical);
    return stored as Plain;
  };
}
