// Forms that create or edit a record. The service validates the fields; its errors are shown next to them.
import { useRef, useState } from "preact/hooks";
import type { DataSet, Dataspace, Extractor, Resource, Visibility } from "../api";
import { dataspaces, resources, sets } from "../api";
import { useMe } from "../session";
import { Field, Form } from "../ui/form";
import { readers } from "../ui/readers";
import { type Flat, flat, flatCalls, QuotaField, withQuota } from "./quota";
import type { Calls, Editable } from "./save";
import { useEdit } from "./save";

interface Props<T> {
  /** The record to edit; without a record the form creates one. */
  was?: T;
  done: (record: T) => void;
  cancel: () => void;
}

/** The values of a form by the names of its controls. */
function read(form: HTMLFormElement, names: string[]): Record<string, string> {
  const data = new FormData(form);
  return Object.fromEntries(names.map((name) => [name, String(data.get(name) ?? "")]));
}

/** The fields that dataspaces and sets share. The name cannot be changed later. */
function NameFields({ was, errorOf }: { was: Pick<DataSet, "title" | "description"> | undefined; errorOf: (field: string) => string | undefined }) {
  return (
    <>
      {!was && (
        <Field label="Name" hint="2 to 100 lower-case letters, digits, - and _. Cannot be changed later." error={errorOf("name")}>
          {(a) => <input name="name" required autofocus spellcheck={false} {...a} />}
        </Field>
      )}
      <Field label="Title" error={errorOf("title")}>
        {(a) => <input name="title" defaultValue={was?.title} {...a} />}
      </Field>
      <Field label="Description" error={errorOf("description")}>
        {(a) => <textarea name="description" defaultValue={was?.description} {...a} />}
      </Field>
    </>
  );
}

const labels = { name: "Name", title: "Title", description: "Description", visibility: "Readable by", origin: "Origin", retention: "Versions kept", quota: "Quota", format: "Format", extract: "Fill in properties from" };

/** The props of a Form that creates or edits a record, by the fields with these names. */
function useRecordForm<T extends Editable>({ was: record, done, cancel }: Props<T>, calls: Calls<T>, fields: string[], create?: (values: Record<string, string>) => Promise<T>) {
  const { was, save, conflicts } = useEdit(record, calls, labels);
  const formRef = useRef<HTMLFormElement>(null);
  const submit = async () => done(await (was ? save(read(formRef.current!, fields)) : create!(read(formRef.current!, ["name", ...fields]))));
  return { was, conflicts, form: { action: was ? "Save" : "Create", submit, onCancel: cancel, formRef } };
}

const dataspaceCalls = flatCalls<Dataspace>(dataspaces);

export function DataspaceForm({ was: dataspace, done, cancel }: Props<Dataspace>) {
  const { sysadmin } = useMe();
  const [visibility, setVisibility] = useState<Visibility>(dataspace?.visibility ?? "private");
  const props = { ...(dataspace && { was: flat(dataspace) }), done: (saved: Flat<Dataspace>) => done(withQuota<Dataspace>(saved)), cancel };
  const fields = ["title", "description", "visibility", "origin", "retention", ...(sysadmin && dataspace ? ["quota"] : [])];
  const { was, form, conflicts } = useRecordForm(props, dataspaceCalls, fields, async ({ origin, ...values }) =>
    flat(await dataspaces.create({ ...(values as Partial<Dataspace>), ...(origin && { origin }) })),
  );
  return (
    <Form {...form}>
      {(errorOf) => (
        <>
          <NameFields was={was} errorOf={errorOf} />
          <Field label={labels.visibility} hint={readers[visibility].hint} error={errorOf("visibility")}>
            {(a) => (
              <select name="visibility" {...a} onChange={(e) => setVisibility(e.currentTarget.value as Visibility)}>
                {Object.entries(readers).map(([visibility, { choice }]) => (
                  <option key={visibility} value={visibility} selected={was?.visibility === visibility}>
                    {choice}
                  </option>
                ))}
              </select>
            )}
          </Field>
          <Field label="Origin" hint="Where the data come from, such as a grant or another system. Listings can be filtered by it." error={errorOf("origin")}>
            {(a) => <input name="origin" defaultValue={was?.origin} {...a} />}
          </Field>
          <RetentionField was={was?.retention} error={errorOf("retention")} />
          {sysadmin && was && <QuotaField was={was.quota} error={errorOf("quota")} />}
          {conflicts}
        </>
      )}
    </Form>
  );
}

/** The retention of versions in the notation of the API: everything, "last 5", or "90 days".
 */
function RetentionField({ was = "everything", error }: { was: string | undefined; error: string | undefined }) {
  const [, last, days] = /^(?:last (\d+)|(\d+) days)$/.exec(was) ?? [];
  const [kind, setKind] = useState(last ? "last" : days ? "days" : "everything");
  const [number, setNumber] = useState(last ?? days ?? "");
  const written = { everything: "everything", last: `last ${number}`, days: `${number} days` }[kind];
  return (
    <Field
      label={labels.retention}
      hint="A purge permanently removes the files of all other versions. The current version and versions with a label are always kept."
      error={error}
    >
      {(a) => (
        <div class="retention">
          <select {...a} value={kind} onChange={(e) => setKind(e.currentTarget.value)}>
            <option value="everything">All</option>
            <option value="last">The last versions, including the current one</option>
            <option value="days">For a number of days after replacement</option>
          </select>
          {kind !== "everything" && (
            <input
              type="number"
              min={1}
              required
              value={number}
              aria-label={kind === "last" ? "Number of versions" : "Number of days"}
              onInput={(e) => setNumber(e.currentTarget.value)}
            />
          )}
          <input type="hidden" name="retention" value={written} />
        </div>
      )}
    </Field>
  );
}

/** A set with the sources of properties as one text, as forms need it. */
type FlatSet = Omit<DataSet, "extract"> & { extract: string };

const flatSet = (set: DataSet): FlatSet => ({ ...set, extract: set.extract.join() });
const withExtract = <T extends Partial<FlatSet>>({ extract, ...fields }: T) => ({ ...fields, ...(extract !== undefined && { extract: extract ? (extract.split(",") as DataSet["extract"]) : [] }) }) as Partial<DataSet>;

const setCalls: Calls<FlatSet> = {
  get: async (id) => flatSet(await sets.get(id)),
  edit: async (of, fields) => flatSet(await sets.edit(of, withExtract(fields))),
};

export function SetForm({ dataspaceId, was: set, done, cancel }: Props<DataSet> & { dataspaceId: string }) {
  const props = { ...(set && { was: flatSet(set) }), done: (saved: FlatSet) => done(withExtract(saved) as DataSet), cancel };
  const { was, form, conflicts } = useRecordForm(props, setCalls, ["title", "description", ...(set ? ["extract"] : [])], async (values) => flatSet(await sets.create({ ...values, dataspaceId })));
  return (
    <Form {...form}>
      {(errorOf) => (
        <>
          <NameFields was={was} errorOf={errorOf} />
          {was && <ExtractField was={was.extract} error={errorOf("extract")} />}
          {conflicts}
        </>
      )}
    </Form>
  );
}

const extractors: [name: Extractor, label: string, says: string][] = [
  ["sidecar", "A JSON file next to the file", "run-1.tif gets its properties from run-1.tif.json."],
  ["header", "The file’s own header", "Values that instruments write into CSV, TIFF, JPEG (EXIF) and other files, such as date, camera or exposure."],
];

/** The sources that fill in properties of the files of a set. */
function ExtractField({ was, error }: { was: string; error: string | undefined }) {
  const [chosen, setChosen] = useState(was.split(",").filter(Boolean));
  const toggle = (name: string, is: boolean) => setChosen(extractors.map(([n]) => n).filter((n) => (n === name ? is : chosen.includes(n))));
  return (
    <fieldset class="extract">
      <legend>{labels.extract}</legend>
      {extractors.map(([name, label, says]) => (
        <label class="option" key={name}>
          <input type="checkbox" checked={chosen.includes(name)} onChange={(e) => toggle(name, e.currentTarget.checked)} />
          <span>
            {label}
            <span class="dim">{says}</span>
          </span>
        </label>
      ))}
      <p class="hint">Values that people have entered are never overwritten. The JSON file takes precedence over the header. Existing files are read, too.</p>
      <input type="hidden" name="extract" value={chosen.join()} />
      <p class="error" role="alert">
        {error}
      </p>
    </fieldset>
  );
}

export function ResourceForm(props: Props<Resource> & { was: Resource }) {
  const { was, form, conflicts } = useRecordForm(props, resources, ["name", "description", "format"]);
  return (
    <Form {...form}>
      {(errorOf) => (
        <>
          <Field label="Name" error={errorOf("name")}>
            {(a) => <input name="name" required autofocus defaultValue={was!.name} {...a} />}
          </Field>
          <Field label="Description" error={errorOf("description")}>
            {(a) => <textarea name="description" defaultValue={was!.description} {...a} />}
          </Field>
          <Field label="Format" hint="For readers and catalogues, such as CSV or JPG." error={errorOf("format")}>
            {(a) => <input name="format" defaultValue={was!.format} {...a} />}
          </Field>
          {conflicts}
        </>
      )}
    </Form>
  );
}
