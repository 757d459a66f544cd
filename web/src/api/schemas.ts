// Schemas, which describe the properties of sets and files, and the forms drawn from them.
import type { Numeric, Value } from "../describe/metadata";
import { call, exact, id, queryOf } from "./http";
import type * as wire from "./wire";

/** The kind of input of a form field. */
export type FieldKind = "text" | "longText" | "number" | "integer" | "truth" | "date" | "dateTime" | "choice" | "quantity" | "list" | "group" | "json";

/** One property of a form, or the item of a list, which has no name. */
export interface FormField {
  name?: string;
  label: string;
  help?: string;
  kind: FieldKind;
  /** The units of a quantity; empty: any text. */
  units?: string[];
  choices?: { value: Value; label: string }[];
  required?: boolean;
  default?: Value;
  /** Bounds of a number, of the amount of a quantity, of the length of a text, or of the number of
      items of a list. */
  min?: Numeric;
  max?: Numeric;
  pattern?: string;
  fields?: FormField[];
  item?: FormField;
}

/** The form that a page draws for the properties of an object. */
export interface PropertyForm {
  title?: string;
  help?: string;
  fields: FormField[];
  /** Whether properties other than the fields are allowed. */
  open: boolean;
}

/** Describes the properties of the sets of a dataspace, or of its files by their types. */
export interface Schema extends Omit<wire.Schema, "form"> {
  form: PropertyForm;
  /** The ETag of the record; records in listings have none. */
  etag?: string;
}

/** A version of the JSON Schema of a schema. */
export interface SchemaVersion extends Omit<wire.SchemaVersion, "form"> {
  form: PropertyForm;
}

/** Why properties do not follow their schema. */
export type PropertyProblem = wire.Conformance["problems"][number];

/** The demands of a schema on an object; without `schema` none applies to it. */
export interface Asked extends Omit<wire.Conformance, "form"> {
  form?: PropertyForm;
}

export const schemas = {
  /** The schemas of a dataspace, oldest first. */
  list: (did: string, signal?: AbortSignal, query = {}) =>
    exact<{ data?: Schema[] }>("GET", `/dataspaces/${id(did)}/schemas${queryOf(query)}`, signal ? { signal } : {}).then((a) => a.data ?? []),
  get: (kid: string) => exact<Schema>("GET", `/schemas/${id(kid)}`),
  create: (did: string, fields: Partial<Schema>) => exact<Schema>("POST", `/dataspaces/${id(did)}/schemas`, { body: fields }),
  edit: (kid: string, fields: Partial<Schema>) => exact<Schema>("PUT", `/schemas/${id(kid)}`, { body: fields }),
  remove: (kid: string) => call<void>("DELETE", `/schemas/${id(kid)}`),
  restore: (kid: string) => exact<Schema>("POST", `/schemas/${id(kid)}/restore`),
  versions: (kid: string) => exact<{ data?: SchemaVersion[] }>("GET", `/schemas/${id(kid)}/versions`).then((a) => a.data ?? []),
  version: (kid: string, version: number) => exact<SchemaVersion>("GET", `/schemas/${id(kid)}/versions/${version}`),
  /** The schema that applies to a file or a set. */
  of: (kind: "resources" | "sets", oid: string) => exact<Asked>("GET", `/${kind}/${id(oid)}/schema`),
};
