// The form that describes a dataspace, a set or a file. It sends a merge patch of the changes.
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { DataSet, Dataspace, FormField, Resource } from "../api";
import { dataspaces, resources, sets } from "../api";
import type { Calls, Editable } from "../edit/save";
import { useEdit } from "../edit/save";
import { useMe } from "../session";
import { Form } from "../ui/form";
import type { Shape } from "./asked";
import { AskedFields, cellsOf, firstOpen, remember } from "./asked";
import type { Cell } from "./cells";
import { readAll } from "./cells";
import type { EntriesMember, Entry } from "./entries";
import { Entries, entriesOf, entryKinds, written } from "./entries";
import type { Kind, Member, Metadata, Value } from "./metadata";
import { flatten, memberLabels, membersOf, metadataLabel, parse, patchOf } from "./metadata";
import { propertyAt } from "./problems";
import { emptyRow, nameOf, PropertyRows, propertiesOf, type Row, rowsOf } from "./properties";
import type { FormProps } from "./props";
import { FromDataspace, type Line, LineField, lines } from "./publication";
import { added, Words } from "./tags";
import { valueText } from "./words";

const calls = { dataspace: dataspaces, set: sets, resource: resources };

const wordLists = ["tags", "keywords"] as const;
type WordList = (typeof wordLists)[number];

/** The input. */
interface Draft {
  words: Record<WordList, string[]>;
  /** Words that are not added yet. */
  typed: Record<WordList, string>;
  /** The properties of the schema, in the order of its fields. */
  cells: Cell[];
  /** The other properties. */
  rows: Row[];
  lines: Record<Line, string>;
  entries: Record<EntriesMember, Entry[]>;
}

const entryMembers = Object.keys(entryKinds) as EntriesMember[];

const record = <K extends string, T>(names: readonly K[], value: (name: K) => T) => Object.fromEntries(names.map((n) => [n, value(n)])) as Record<K, T>;

/** The rows of properties without a field. Without a form, there is one empty row. */
function otherRows(fields: FormField[], properties: Metadata["properties"] = {}): Row[] {
  const names = new Set(fields.map((f) => f.name));
  const rows = rowsOf(Object.fromEntries(Object.entries(properties).filter(([name]) => !names.has(name))));
  return rows.length || fields.length ? rows : [emptyRow()];
}

const draftOf = (m: Metadata, fields: FormField[]): Draft => ({
  words: record(wordLists, (name) => m[name] ?? []),
  typed: record(wordLists, () => ""),
  cells: cellsOf(fields, m.properties ?? {}, m.sources),
  rows: otherRows(fields, m.properties),
  lines: record(lines, (name) => String(m[name] ?? "")),
  entries: record(entryMembers, (name) => entriesOf(name, m)),
});

/** The metadata of a draft. Empty members are left out. */
function metadataOf(d: Draft, fields: FormField[]): Metadata {
  const year = d.lines.publicationYear.trim();
  const properties = { ...propertiesOf(d.rows), ...readAll(fields, d.cells).group };
  const members: Metadata = {
    ...record(wordLists, (name) => added(d.words[name], d.typed[name])),
    ...record(lines, (name) => d.lines[name].trim()),
    ...(record(entryMembers, (name) => written(name, d.entries[name])) as object),
    publicationYear: Number(year),
  };
  const said = Object.fromEntries(Object.entries(members).filter(([, v]) => (Array.isArray(v) ? v.length : v))) as Metadata;
  return Object.keys(properties).length ? { ...said, properties } : said;
}

/** A record whose members and properties are separate fields, so that each is saved and compared
    separately. */
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

const publication: Member[] = ["creators", ...lines, "keywords", "related", "dates", "funding", "places"];

export function DescribeForm<T extends Dataspace | DataSet | Resource>({ kind, was: given, asked, done, cancel, focus, next }: FormProps<T>) {
  const [shape, setShape] = useState<Shape | undefined>(asked?.form && { form: asked.form });
  const fields = shape?.form.fields ?? [];
  const [first] = useState(() => draftOf(given.metadata ?? {}, fields));
  const [draft, setDraft] = useState(first);
  const me = useMe();
  const said = metadataOf(draft, fields);
  const [begun] = useState(() => JSON.stringify(said));
  const now = flatten(said);
  const before = flatten(given.metadata ?? {});
  const names = record([...new Set([...Object.keys(before), ...Object.keys(now)])], (field) => metadataLabel(field) ?? field);
  const { save, conflicts } = useEdit(flat(given), flatCalls<T>(kind), names, readable);
  const send = async () => {
    const version = shape?.version && { "metadata.schema": JSON.stringify({ version: shape.version }) };
    const { record: saved } = await save({ ...record(Object.keys(names), (name) => now[name] ?? ""), ...version });
    if (asked) remember(asked, saved, saved.metadata?.properties);
    return saved;
  };
  const reshape = (to: Shape) => {
    const { properties = {} } = metadataOf(draft, fields);
    setShape(to);
    setDraft((d) => ({ ...d, cells: cellsOf(to.form.fields, properties), rows: otherRows(to.form.fields, properties) }));
  };
  const change = <K extends keyof Draft>(part: K, name: keyof Draft[K], value: Draft[K][keyof Draft[K]]) =>
    setDraft((d) => ({ ...d, [part]: { ...d[part], [name]: value } }));
  const take = (m: Metadata) => {
    const from = draftOf(m, []);
    const taken = <N extends string, V>(of: Record<N, V>, to: Record<N, V>) => ({ ...of, ...Object.fromEntries(Object.entries(to).filter(([name]) => m[name as Member])) });
    setDraft((d) => ({ ...d, words: taken(d.words, from.words), lines: taken(d.lines, from.lines), entries: taken(d.entries, from.entries) }));
  };
  const members = membersOf[kind];
  const has = (name: Member) => members.includes(name);
  const isRow = (path: string) => draft.rows.some((row) => nameOf(row) === propertyAt(path));
  const ref = useFirstFocus(fields, first.cells, focus);
  const finish = (then: (record: T) => void) => async () => then(await send());
  return (
    <Form
      action={next ? next.action : "Save"}
      submit={finish(next ? next.done : done)}
      also={next && { action: "Save", submit: finish(done) }}
      onCancel={cancel}
      covers={(field) => isShown(field, draft, members, fields)}
    >
      {(_, problem) => {
        /** The error of a field or of its content. */
        const errorIn = (field: string) => (problem && (problem.field === field || problem.field.startsWith(`${field}.`)) ? problem.detail : undefined);
        const errorAt = (field: string) => (problem?.field === field ? problem.detail : undefined);
        const words = (name: WordList) => (
          <Words
            key={name}
            label={memberLabels[name]}
            hint={name === "keywords" ? "Subjects, as people look for them in catalogues. Press Enter after each." : undefined}
            words={draft.words[name]}
            typed={draft.typed[name]}
            onChange={(words) => change("words", name, words)}
            onType={(text) => change("typed", name, text)}
            error={errorIn(`metadata.${name}`)}
          />
        );
        const entries = (name: EntriesMember) => (
          <Entries
            key={name}
            member={name}
            me={name === "creators" ? me.fullname || me.username : undefined}
            entries={draft.entries[name]}
            onChange={(entries) => change("entries", name, entries)}
            errorOf={(within) => (within.includes(".") ? errorIn : errorAt)(`metadata.${name}${within && `.${within}`}`)}
          />
        );
        return (
          <div class="describe" ref={ref}>
            <Unsaved changed={!!shape?.version || JSON.stringify(said) !== begun} />
            {shape && asked && (
              <AskedFields
                asked={asked}
                of={given.id}
                shape={shape}
                cells={draft.cells}
                onChange={(cells) => setDraft((d) => ({ ...d, cells }))}
                reshape={reshape}
                sources={given.metadata?.sources}
                refused={problem}
                isRow={isRow}
              />
            )}
            {shape && <h3>Tags and other properties</h3>}
            {words("tags")}
            <PropertyRows
              rows={draft.rows}
              legend={shape ? "Other properties" : undefined}
              closed={shape && !shape.form.open}
              reserved={fields.map((f) => f.name!)}
              onChange={(rows) => setDraft((d) => ({ ...d, rows }))}
              errorOf={(name) => errorIn(`metadata.properties.${name}`)}
              sources={given.metadata?.sources}
            />
            {has("creators") && <h3>For a publication</h3>}
            {"dataspaceId" in given && kind === "set" && <FromDataspace did={given.dataspaceId} empty={(name) => !said[name]} take={take} />}
            {publication.filter(has).map((name) => (
              <div key={name} data-member={name}>
                {name === "keywords" ? (
                  words(name)
                ) : name in entryKinds ? (
                  entries(name as EntriesMember)
                ) : (
                  <LineField name={name as Line} text={draft.lines[name as Line]} onChange={(text) => change("lines", name as Line, text)} error={errorIn(`metadata.${name}`)} />
                )}
              </div>
            ))}
            {conflicts}
          </div>
        );
      }}
    </Form>
  );
}

/** Focuses the member that the user wants to fill in, or else the first incomplete field. */
function useFirstFocus(fields: FormField[], cells: Cell[], member: string | undefined) {
  const ref = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const within = member ? ref.current!.querySelector(`[data-member="${member}"]`) : fields.length ? ref.current!.querySelectorAll(".asked > .field, .asked > .several")[firstOpen(fields, cells)] : undefined;
    queueMicrotask(() => within?.querySelector<HTMLElement>("input, select, textarea, button")?.focus()); // after a dialog has opened around it
  }, []);
  return ref;
}

/** Whether the form shows the error of a field next to it. */
function isShown(field: string, draft: Draft, members: Member[], fields: FormField[]): boolean {
  const [, member = "", , part] = field.split(".");
  if (!members.includes(member as Member)) return false;
  if (member === "properties") {
    const shown = [...fields.map((f) => f.name), ...Object.keys(propertiesOf(draft.rows))];
    return shown.some((name) => `${field}.`.startsWith(`metadata.properties.${name}.`));
  }
  const kind = entryKinds[member as EntriesMember];
  return !kind || !part || part === "box" || kind.fields.some((f) => f.name === part);
}

/** Makes the dialog confirm before it discards tags and entries, which are not values of controls.
 */
function Unsaved({ changed }: { changed: boolean }) {
  const input = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => {
    input.current?.dispatchEvent(new Event("input", { bubbles: true }));
  }, [changed]);
  return changed ? <input type="hidden" value="changed" ref={input} /> : null;
}
