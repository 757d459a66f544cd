// Descriptive metadata of a dataspace, a set or a file: the member `metadata` of the API, and
// its conversion for forms.

/** A number whose notation a float64 does not keep, such as 20.0: JSON.stringify writes it
    unchanged. */
interface RawNumber {
  rawJSON: string;
}

export type Numeric = number | RawNumber;
export type Value = string | Numeric | boolean | Quantity | Value[] | Group;
/** A number with a unit. */
export type Quantity = { value: Numeric; unit: string };
export type Group = { [name: string]: Value };

export interface Creator {
  name: string;
  givenName?: string;
  familyName?: string;
  type?: string;
  orcid?: string;
  affiliations?: string[];
}
export interface Related {
  identifier: string;
  type: string;
  relation: string;
}
export interface DateOf {
  date: string;
  type: string;
  information?: string;
}
export interface Funding {
  funder: string;
  funderId?: string;
  award?: string;
  title?: string;
  uri?: string;
}
export interface Place {
  name?: string;
  latitude?: Numeric;
  longitude?: Numeric;
  box?: { west: Numeric; east: Numeric; south: Numeric; north: Numeric };
}

/** All members are optional; the kind of object decides which are allowed. */
export interface Metadata {
  creators?: Creator[];
  publisher?: string;
  publicationYear?: number;
  resourceType?: string;
  licence?: string;
  keywords?: string[];
  related?: Related[];
  dates?: DateOf[];
  funding?: Funding[];
  places?: Place[];
  tags?: string[];
  properties?: Group;
  /** The version of the schema that the properties were written with. */
  schema?: { id: string; version: number };
  /** The properties that a program has filled in, and their source. */
  sources?: Record<string, Source>;
}

/** The header of a file, or a JSON file next to it. */
export type Source = "header" | "sidecar";

export const sourceLabels: Record<Source, string> = { header: "from the file’s header", sidecar: "from the JSON file next to it" };

/** The user-entered part; the service adds the rest. */
export type Member = Exclude<keyof Metadata, "schema" | "sources">;
export type Kind = "dataspace" | "set" | "resource";

/** The members with their labels, in the order of the API. */
export const memberLabels: Record<Member, string> = {
  creators: "Creators",
  publisher: "Publisher",
  publicationYear: "Year of publication",
  resourceType: "Type",
  licence: "Licence",
  keywords: "Keywords",
  related: "Related works",
  dates: "Dates",
  funding: "Funding",
  places: "Places",
  tags: "Tags",
  properties: "Properties",
};

const labels: Record<string, string> = { ...memberLabels, schema: "Form", sources: "Filled in from" };

const described: Member[] = ["tags", "properties"];
const dataspaceMembers: Member[] = ["creators", "publisher", "licence", "keywords", "funding"];

/** The members that are allowed for a kind of object. */
export const membersOf: Record<Kind, Member[]> = {
  resource: described,
  dataspace: [...described, ...dataspaceMembers],
  set: [...described, "creators", "publisher", "publicationYear", "resourceType", "licence", "keywords", "related", "dates", "funding", "places"],
};

const mandatory: Member[] = ["creators", "publisher", "publicationYear", "resourceType"];

const recommended: Member[] = ["licence", "keywords"];

/** The members that a set lacks for a publication: those that the DataCite kernel requires, and
    recommended ones. */
export function lacking(m: Metadata): { needed: Member[]; useful: Member[] } {
  const empty = (name: Member) => !m[name] || (m[name] as unknown[]).length === 0;
  return { needed: mandatory.filter(empty), useful: recommended.filter(empty) };
}

/** JSON that keeps the notation of numbers; as float64 in browsers before 2025. */
const json = JSON as unknown as {
  rawJSON?: (text: string) => RawNumber;
  parse: (text: string, reviver: (key: string, value: unknown, context?: { source?: string }) => unknown) => unknown;
};

/** Whether a text is a number of JSON that a float64 holds. */
export const isNumeric = (text: string) => /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(text) && Number.isFinite(Number(text));

/** A number in its JSON notation. */
export function numberOf(text: string): Numeric {
  const value = Number(text);
  return String(value) === text || !json.rawJSON ? value : json.rawJSON(text);
}

/** Parses JSON and keeps numbers as they are written. */
export const parse = (text: string): unknown =>
  json.parse(text, (_, value, context) => (typeof value === "number" && context?.source ? numberOf(context.source) : value));

const isRaw = (v: unknown): v is RawNumber => typeof v === "object" && v !== null && Object.getPrototypeOf(v) === null;
export const isNumber = (v: Value | undefined): v is Numeric => typeof v === "number" || isRaw(v);
export const numberText = (v: Numeric) => (isRaw(v) ? v.rawJSON : String(v));

const isObject = (v: unknown): v is Group => typeof v === "object" && v !== null && !Array.isArray(v) && !isRaw(v);

export function isQuantity(v: Value): v is Quantity {
  return isObject(v) && Object.keys(v).length === 2 && isNumber(v.value as Value) && typeof v.unit === "string";
}
/** A number as a float64. */
export const floatOf = (v: Numeric) => Number(numberText(v));

export const isGroup = (v: Value): v is Group => isObject(v) && !isQuantity(v);

/** The prefix of the names of fields. */
const root = "metadata";

const ofProperties = `${root}.properties.`;

/** The property of a field such as metadata.properties.operator; "" for other fields. */
const propertyOf = (field: string) => (field.startsWith(ofProperties) ? field.slice(ofProperties.length) : "");

/** The label of a field such as metadata.tags; undefined for a field outside of the metadata. */
export function metadataLabel(field: string): string | undefined {
  const name = field.startsWith(`${root}.`) ? field.slice(root.length + 1) : "";
  return propertyOf(field) || (Object.hasOwn(labels, name) ? labels[name] : name) || undefined;
}

/** The members and properties as texts, by their names in errors and in the audit log; absent ones
    are left out. */
export function flatten({ properties = {}, schema: _, sources: __, ...members }: Metadata): Record<string, string> {
  const texts: Record<string, string> = {};
  for (const [name, value] of Object.entries(members)) texts[`${root}.${name}`] = JSON.stringify(value);
  for (const [name, value] of Object.entries(properties)) texts[`${root}.properties.${name}`] = JSON.stringify(value);
  return texts;
}

/** The merge patch (RFC 7396) that turns one value into another. */
function mergePatch(from: unknown, to: unknown): unknown {
  if (!isObject(to) || !isObject(from)) return to;
  const before = new Map(Object.entries(from));
  const removed = [...before.keys()].filter((name) => !Object.hasOwn(to, name)).map((name) => [name, null]);
  const changed = Object.entries(to).filter(([name, value]) => JSON.stringify(before.get(name)) !== JSON.stringify(value));
  return Object.fromEntries([...removed, ...changed.map(([name, value]) => [name, mergePatch(before.get(name), value)])]);
}

/** The merge patch that sets some texts of `flatten`, where "" removes. `from` is the current
    state. */
export function patchOf(from: Record<string, string>, texts: Record<string, string>): Record<string, unknown> {
  const members: [string, unknown][] = [];
  const properties: [string, unknown][] = [];
  for (const [field, text] of Object.entries(texts)) {
    const before = from[field];
    const value = text ? mergePatch(before && parse(before), parse(text)) : null;
    const property = propertyOf(field);
    if (property) properties.push([property, value]);
    else members.push([field.slice(root.length + 1), value]);
  }
  return { ...Object.fromEntries(members), ...(properties.length && { properties: Object.fromEntries(properties) }) };
}

/** Whether an ORCID iD has a valid format and checksum (ISO 7064 MOD 11-2). */
export function isOrcid(text: string): boolean {
  if (!/^\d{4}-\d{4}-\d{4}-\d{3}[\dX]$/.test(text)) return false;
  const digits = text.replaceAll("-", "");
  let sum = 0;
  for (const digit of digits.slice(0, -1)) sum = ((sum + Number(digit)) * 2) % 11;
  return "0123456789X"[(12 - sum) % 11] === digits.at(-1);
}
