// The form that describes a dataspace, a set or a file. It sends a merge patch of what has changed.
import { useEffect, useRef, useState } from "preact/hooks";
import type { DataSet, Dataspace, Resource } from "../api";
import { dataspaces, resources, sets } from "../api";
import type { Calls, Editable } from "../edit/save";
import { useEdit } from "../edit/save";
import { Field, Form } from "../ui/form";
import type { EntriesMember, Entry } from "./entries";
import { Entries, entriesOf, entryKinds, written } from "./entries";
import type { Kind, Member, Metadata, Value } from "./metadata";
import { flatten, memberLabels, membersOf, metadataLabel, parse, patchOf } from "./metadata";
import { emptyRow, PropertyRows, propertiesOf, type Row, rowsOf } from "./properties";
import type { FormProps } from "./props";
import { added, Words } from "./tags";
import { commonLicences, resourceTypes, spaced } from "./vocabulary";
import { valueText } from "./words";

const calls = { dataspace: dataspaces, set: sets, resource: resources };

/** The members of one text. */
const lines = ["publisher", "publicationYear", "resourceType", "licence"] as const;
type Line = (typeof lines)[number];

const wordLists = ["tags", "keywords"] as const;
type WordList = (typeof wordLists)[number];

/** What is typed. */
interface Draft {
  words: Record<WordList, string[]>;
  /** Words that are not added yet. */
  typed: Record<WordList, string>;
  rows: Row[];
  lines: Record<Line, string>;
  entries: Record<EntriesMember, Entry[]>;
}

const entryMembers = Object.keys(entryKinds) as EntriesMember[];

const record = <K extends string, T>(names: readonly K[], value: (name: K) => T) => Object.fromEntries(names.map((n) => [n, value(n)])) as Record<K, T>;

const draftOf = (m: Metadata): Draft => ({
  words: record(wordLists, (name) => m[name] ?? []),
  typed: record(wordLists, () => ""),
  rows: m.properties ? rowsOf(m.properties) : [emptyRow()],
  lines: record(lines, (name) => String(m[name] ?? "")),
  entries: record(entryMembers, (name) => entriesOf(name, m)),
});

/** What a draft says. What says nothing is left out. */
function metadataOf(d: Draft): Metadata {
  const year = d.lines.publicationYear.trim();
  const members: Metadata = {
    ...record(wordLists, (name) => added(d.words[name], d.typed[name])),
    ...record(lines, (name) => d.lines[name].trim()),
    ...(record(entryMembers, (name) => written(name, d.entries[name])) as object),
    properties: propertiesOf(d.rows),
    publicationYear: Number(year),
  };
  return Object.fromEntries(Object.entries(members).filter(([, v]) => (Array.isArray(v) ? v.length : v))) as Metadata;
}

/** A record whose members and properties are fields of their own, so that each is saved, and compared with what others save, by itself. */
type Flat<T> = Editable & { record: T; texts: Record<string, string> };

function flat<T extends Editable & { metadata?: Metadata }>(record: T): Flat<T> {
  const { id, state, etag, modified, modifiedBy } = record;
  const texts = flatten(record.metadata ?? {});
  return { id, state, ...(etag && { etag }), ...(modified && { modified }), ...(modifiedBy && { modifiedBy }), record, texts, ...texts };
}

function flatCalls<T extends Dataspace | DataSet | Resource>(kind: Kind): Calls<Flat<T>> {
  const { get, describe } = calls[kind] as unknown as { get: (id: string) => Promise<T>; describe: (of: Editable, metadata: object) => Promise<T> };
  return {
    get: async (id) => flat(await get(id)),
    edit: async (of, fields) => flat(await describe(of as Editable, patchOf((of as Flat<T>).texts, fields as Record<string, string>))),
  };
}

/** A value as JSON, for people. */
function readable(text: unknown): string {
  if (!text) return "(nothing)";
  const value = parse(String(text)) as Value;
  return Array.isArray(value) ? value.map(valueText).join("\n") : valueText(value);
}

export function DescribeForm<T extends Dataspace | DataSet | Resource>({ kind, was: given, done, cancel }: FormProps<T>) {
  const [first] = useState(() => draftOf(given.metadata ?? {}));
  const [draft, setDraft] = useState(first);
  const now = flatten(metadataOf(draft));
  const before = flatten(given.metadata ?? {});
  const fields = [...new Set([...Object.keys(before), ...Object.keys(now)])];
  const names = record(fields, (field) => metadataLabel(field) ?? field);
  const { save, conflicts } = useEdit(flat(given), flatCalls<T>(kind), names, readable);
  const submit = async () => done((await save(record(fields, (name) => now[name] ?? ""))).record);
  const change = <K extends keyof Draft>(part: K, name: keyof Draft[K], value: Draft[K][keyof Draft[K]]) =>
    setDraft((d) => ({ ...d, [part]: { ...d[part], [name]: value } }));
  const members = membersOf[kind];
  const has = (name: Member) => members.includes(name);
  return (
    <Form action="Save" submit={submit} onCancel={cancel} covers={(field) => isShown(field, draft, members)}>
      {(_, problem) => {
        /** The error about a field, or about what is in it. */
        const errorIn = (field: string) => (problem && (problem.field === field || problem.field.startsWith(`${field}.`)) ? problem.detail : undefined);
        const errorAt = (field: string) => (problem?.field === field ? problem.detail : undefined);
        return (
          <div class="describe">
            <Unsaved draft={draft} first={first} />
            {wordLists.filter(has).map((name) => (
              <Words
                key={name}
                label={memberLabels[name]}
                words={draft.words[name]}
                typed={draft.typed[name]}
                onChange={(words) => change("words", name, words)}
                onType={(text) => change("typed", name, text)}
                error={errorIn(`metadata.${name}`)}
              />
            ))}
            <PropertyRows rows={draft.rows} onChange={(rows) => setDraft((d) => ({ ...d, rows }))} errorOf={(name) => errorIn(`metadata.properties.${name}`)} />
            {has("creators") && <h3>For a publication</h3>}
            {lines.filter(has).map((name) => (
              <LineField key={name} name={name} text={draft.lines[name]} onChange={(text) => change("lines", name, text)} error={errorIn(`metadata.${name}`)} />
            ))}
            {entryMembers.filter(has).map((name) => (
              <Entries
                key={name}
                member={name}
                entries={draft.entries[name]}
                onChange={(entries) => change("entries", name, entries)}
                errorOf={(within) => (within.includes(".") ? errorIn : errorAt)(`metadata.${name}${within && `.${within}`}`)}
              />
            ))}
            {conflicts}
          </div>
        );
      }}
    </Form>
  );
}

/** Whether the form shows the error of a field next to it. */
function isShown(field: string, draft: Draft, members: Member[]): boolean {
  const [, member = "", , part] = field.split(".");
  if (!members.includes(member as Member)) return false;
  if (member === "properties") return Object.keys(propertiesOf(draft.rows)).some((name) => `${field}.`.startsWith(`metadata.properties.${name}.`));
  const kind = entryKinds[member as EntriesMember];
  return !kind || !part || part === "box" || kind.fields.some((f) => f.name === part);
}

/** Makes the dialog ask before it discards tags and entries, which are no text of a control. */
function Unsaved({ draft, first }: { draft: Draft; first: Draft }) {
  const input = useRef<HTMLInputElement>(null);
  const changed = JSON.stringify(metadataOf(draft)) !== JSON.stringify(metadataOf(first));
  useEffect(() => {
    input.current?.dispatchEvent(new Event("input", { bubbles: true }));
  }, [changed]);
  return changed ? <input type="hidden" value="changed" ref={input} /> : null;
}

interface LineProps {
  name: Line;
  text: string;
  onChange: (text: string) => void;
  error: string | undefined;
}

const hints: Partial<Record<Line, string>> = { licence: "An identifier of SPDX, such as CC-BY-4.0.", publisher: "Such as your university." };

function LineField({ name, text, onChange, error }: LineProps) {
  return (
    <Field label={memberLabels[name]} hint={hints[name]} error={error}>
      {(a) => {
        const attributes = { ...a, value: text, onInput: (e: { currentTarget: { value: string } }) => onChange(e.currentTarget.value) };
        if (name === "publicationYear") return <input type="number" min={1000} max={9999} {...attributes} />;
        if (name === "licence")
          return (
            <>
              <input list={`${a.id}-list`} spellcheck={false} {...attributes} />
              <datalist id={`${a.id}-list`}>
                {commonLicences.map((id) => (
                  <option key={id} value={id} />
                ))}
              </datalist>
            </>
          );
        if (name === "publisher") return <input {...attributes} />;
        return (
          <select {...attributes}>
            <option value="" />
            {resourceTypes.map((type) => (
              <option key={type} value={type}>
                {spaced(type)}
              </option>
            ))}
          </select>
        );
      }}
    </Field>
  );
}
