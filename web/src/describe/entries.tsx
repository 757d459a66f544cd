// Members with several entries, such as creators: the input of an entry, and its value.
import { useId, useState } from "preact/hooks";
import { Button, IconButton } from "../ui/components";
import { useFocusOnRows } from "./focus";
import type { Creator, DateOf, Funding, Metadata, Numeric, Place, Related } from "./metadata";
import { readNumber } from "../numbers";
import { isOrcid, numberOf, numberText } from "./metadata";
import { creatorTypes, dateTypes, identifierTypes, relationTypes, spaced } from "./vocabulary";

export type EntriesMember = "creators" | "related" | "dates" | "funding" | "places";

/** The input of an entry, by field name. */
export interface Entry {
  key: number;
  texts: Record<string, string>;
}

interface EntryField {
  name: string;
  label: string;
  options?: string[];
  /** The label of an option; by default its name with spaces. */
  shown?: (option: string) => string;
  /** Whether the entry requires it. */
  required?: true;
  hint?: string;
  /** The problem of a text. */
  check?: (text: string) => string;
  /** Normalises pasted text. */
  clean?: (text: string) => string;
  /** The link target of a valid text. */
  link?: (text: string) => string;
  /** Whether it is behind "More" while it is empty. */
  rare?: true;
}

interface EntryKind<T> {
  legend: string;
  add: string;
  fields: EntryField[];
  /** The initial texts of a new entry; an entry that stays like this is dropped. */
  start: Record<string, string>;
  read: (of: T) => Record<string, string>;
  write: (texts: Record<string, string>) => T;
}

/** The non-empty fields. */
function said<T>(texts: Record<string, string>, names: string[]): T {
  return Object.fromEntries(names.filter((n) => texts[n]?.trim()).map((n) => [n, texts[n]!.trim()])) as T;
}

const texts = (of: object) => Object.fromEntries(Object.entries(of).filter(([, v]) => typeof v === "string")) as Record<string, string>;

const orcidError = (text: string) =>
  isOrcid(text) ? "" : /^[\dX-]{19}$/.test(text) ? "This ORCID iD has a typing error: its last character does not match the others." : "Write the ORCID iD as 0000-0002-1825-0097.";

const orcidOf = (text: string) =>
  text
    .trim()
    .replace(/^https?:\/\/orcid\.org\//, "")
    .replace(/^(\d{4})(\d{4})(\d{4})(\d{3}[\dXx])$/, "$1-$2-$3-$4")
    .toUpperCase();

const numberError = (text: string) => readNumber(text).error ?? "";

const sides = ["west", "east", "south", "north"] as const;

function number(text = ""): Numeric | undefined {
  const { number } = readNumber(text);
  return number === undefined ? undefined : numberOf(number);
}

const creators: EntryKind<Creator> = {
  legend: "Creators",
  add: "Add a creator",
  start: {},
  fields: [
    { name: "name", label: "Name", required: true, hint: "For a person: Curie, Marie" },
    { name: "orcid", label: "ORCID iD", check: orcidError, clean: orcidOf, hint: "Such as 0000-0002-1825-0097", link: (text) => `https://orcid.org/${text}` },
    { name: "affiliations", label: "Affiliations", hint: "Separate several with ;" },
    { name: "type", label: "Kind", options: ["", ...creatorTypes], rare: true },
    { name: "givenName", label: "Given name", rare: true },
    { name: "familyName", label: "Family name", rare: true },
  ],
  read: (c) => ({ ...texts(c), affiliations: (c.affiliations ?? []).join("; ") }),
  write: (t) => {
    const affiliations = (t.affiliations ?? "").split(";").map((a) => a.trim()).filter(Boolean);
    return { ...said<Creator>(t, ["name", "givenName", "familyName", "type", "orcid"]), ...(affiliations.length && { affiliations }) };
  },
};

const related: EntryKind<Related> = {
  legend: "Related works",
  add: "Add a related work",
  start: { type: "DOI", relation: "IsSupplementTo" },
  fields: [
    { name: "relation", label: "This set", options: relationTypes },
    { name: "identifier", label: "Identifier", required: true, hint: "Such as 10.5072/example" },
    { name: "type", label: "Kind of identifier", options: identifierTypes, shown: (type) => type },
  ],
  read: texts,
  write: (t) => said(t, ["identifier", "type", "relation"]),
};

/** The service requires a T between date and time; people also type a blank. */
const withT = (text = "") => text.replace(/(\d{4}-\d\d-\d\d) (?=\d\d:)/g, "$1T");

const dates: EntryKind<DateOf> = {
  legend: "Dates",
  add: "Add a date",
  start: { type: "Collected" },
  fields: [
    { name: "type", label: "Kind", options: dateTypes, hint: "Coverage: the period that the data describe" },
    { name: "date", label: "Date or period", required: true, hint: "2026, 2026-01-31, or 2026-01/2026-03" },
    { name: "information", label: "Note" },
  ],
  read: texts,
  write: (t) => said({ ...t, date: withT(t.date) }, ["date", "type", "information"]),
};

const funding: EntryKind<Funding> = {
  legend: "Funding",
  add: "Add funding",
  start: {},
  fields: [
    { name: "funder", label: "Funder", required: true },
    { name: "award", label: "Grant number" },
    { name: "title", label: "Grant title" },
    { name: "funderId", label: "Funder identifier", hint: "Such as https://ror.org/018mejw64", rare: true },
    { name: "uri", label: "Grant URL", hint: "https://…", rare: true },
  ],
  read: texts,
  write: (t) => said(t, ["funder", "funderId", "award", "title", "uri"]),
};

const places: EntryKind<Place> = {
  legend: "Places",
  add: "Add a place",
  start: {},
  fields: [
    { name: "name", label: "Name" },
    { name: "latitude", label: "Latitude", check: numberError, hint: "In degrees, south of the equator with -" },
    { name: "longitude", label: "Longitude", check: numberError, hint: "West of Greenwich with -" },
    ...sides.map((name) => ({ name, label: `Box: ${name}`, check: numberError, rare: true as const })),
  ],
  read: ({ name = "", latitude, longitude, box }) => ({
    name,
    ...(latitude !== undefined && { latitude: numberText(latitude) }),
    ...(longitude !== undefined && { longitude: numberText(longitude) }),
    ...(box && Object.fromEntries(sides.map((side) => [side, numberText(box[side])]))),
  }),
  write: (t) => {
    const [latitude, longitude] = [number(t.latitude), number(t.longitude)];
    const box = Object.fromEntries(sides.flatMap((side) => (number(t[side]) === undefined ? [] : [[side, number(t[side])]])));
    return {
      ...said<Place>(t, ["name"]),
      ...(latitude !== undefined && { latitude }),
      ...(longitude !== undefined && { longitude }),
      ...(Object.keys(box).length && { box: box as NonNullable<Place["box"]> }),
    };
  },
};

export const entryKinds = { creators, related, dates, funding, places } as unknown as Record<EntriesMember, EntryKind<unknown>>;

let keys = 0;
const entry = (texts: Record<string, string>): Entry => ({ key: ++keys, texts });

export const entriesOf = (member: EntriesMember, m: Metadata): Entry[] => ((m[member] ?? []) as unknown[]).map((one) => entry(entryKinds[member].read(one)));

/** Whether an entry differs from a new one. */
const says = (member: EntriesMember, { texts }: Entry) =>
  entryKinds[member].fields.some(({ name, options }) => texts[name]?.trim() && !(options && texts[name] === (entryKinds[member].start[name] ?? "")));

export const written = (member: EntriesMember, entries: Entry[]): unknown[] => entries.filter((e) => says(member, e)).map((e) => entryKinds[member].write(e.texts));

/** A person as a creator: Lovelace, Ada. */
export function creatorEntry(name: string): Entry {
  const words = name.trim().split(/\s+/);
  return entry({ name: words.length === 2 ? `${words[1]}, ${words[0]}` : words.join(" "), type: "person" });
}

interface EntriesProps {
  member: EntriesMember;
  /** The user, who can be added as a creator. */
  me?: string | undefined;
  entries: Entry[];
  onChange: (entries: Entry[]) => void;
  /** The service's error for a field, such as 0.orcid, or for the whole member: "". */
  errorOf: (within: string) => string | undefined;
}

export function Entries({ member, me, entries, onChange, errorOf }: EntriesProps) {
  const { legend, add, fields, start } = entryKinds[member];
  // the service numbers errors by the sent entries
  const sent = entries.filter((e) => says(member, e));
  const set = (key: number, name: string, text: string) => onChange(entries.map((e) => (e.key === key ? { key, texts: { ...e.texts, [name]: text } } : e)));
  const ref = useFocusOnRows<HTMLFieldSetElement>(entries.length, ".entry");
  const self = me && creatorEntry(me);
  const draw = (e: Entry, field: EntryField) => (
    <EntryText
      key={field.name}
      field={field}
      text={e.texts[field.name] ?? ""}
      required={!!field.required && says(member, e)}
      onChange={(text) => set(e.key, field.name, text)}
      error={sent.includes(e) ? errorOf(`${sent.indexOf(e)}.${sides.includes(field.name as "west") ? "box." : ""}${field.name}`) : undefined}
    />
  );
  return (
    <fieldset ref={ref}>
      <legend>{legend}</legend>
      <p class="error" role="alert">
        {errorOf("")}
      </p>
      {entries.map((e, i) => (
        <fieldset class="entry" key={e.key}>
          <legend class="visually-hidden">
            {legend} {i + 1}
          </legend>
          {fields.filter((f) => !f.rare).map((field) => draw(e, field))}
          {fields.some((f) => f.rare) && (
            <details open={fields.some((f) => f.rare && e.texts[f.name])}>
              <summary>More</summary>
              <div class="rare">{fields.filter((f) => f.rare).map((field) => draw(e, field))}</div>
            </details>
          )}
          <p class="error" role="alert">
            {sent.includes(e) && errorOf(String(sent.indexOf(e)))}
          </p>
          <IconButton icon="cross" label={`Remove ${legend.toLowerCase()} ${i + 1}`} onClick={() => onChange(entries.filter((other) => other !== e))} />
        </fieldset>
      ))}
      {self && entries.every((e) => e.texts.name !== self.texts.name) && (
        <Button icon="user" class="tight" onClick={() => onChange([...entries, self])}>
          Add yourself
        </Button>
      )}{" "}
      <Button icon="plus" class="tight" onClick={() => onChange([...entries, entry(start)])}>
        {add}
      </Button>
    </fieldset>
  );
}

interface TextProps {
  field: EntryField;
  text: string;
  required: boolean;
  onChange: (text: string) => void;
  error: string | undefined;
}

function EntryText({ field: { label, options, shown: word = spaced, hint, check, clean, link }, text, required, onChange, error }: TextProps) {
  const id = useId();
  const [typing, setTyping] = useState(false);
  const wrong = (text && check?.(text)) || "";
  // an unfinished input is not an error yet
  const shown = error ?? (typing && text.length < 16 ? "" : wrong);
  const attributes = { id, required, "aria-invalid": !!shown, "aria-describedby": `${id}-hint` };
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {options ? (
        <select {...attributes} value={text} onChange={(e) => onChange(e.currentTarget.value)}>
          {options.map((option) => (
            <option key={option} value={option}>
              {word(option)}
            </option>
          ))}
        </select>
      ) : (
        <input
          {...attributes}
          value={text}
          spellcheck={false}
          ref={(e) => e?.setCustomValidity(wrong)}
          onInput={(e) => onChange(e.currentTarget.value)}
          onFocus={() => setTyping(true)}
          onBlur={() => {
            setTyping(false);
            if (clean && clean(text) !== text) onChange(clean(text));
          }}
          onPaste={(e) => {
            const pasted = clean?.(e.clipboardData?.getData("text") ?? "");
            if (!pasted || text) return;
            e.preventDefault();
            onChange(pasted);
          }}
        />
      )}
      <p class={shown ? "error" : "hint"} id={`${id}-hint`} role={shown ? "alert" : undefined}>
        {shown || (link && text && !wrong ? <a href={link(text)} target="_blank" rel="noopener noreferrer">{link(text).replace("https://", "")}</a> : hint)}
      </p>
    </div>
  );
}
