// Creates and changes a schema, as form fields or as JSON.
import { useEffect, useId, useRef, useState } from "preact/hooks";
import type { Schema } from "../api";
import { schemas } from "../api";
import { Field, Form } from "../ui/form";
import { useLeaveGuard } from "../router";
import { Button } from "../ui/components";
import type { BuilderField, SchemaDocument } from "./document";
import { beyondFields, newField, parseJson, readDocument, schemaText, withKeyword, writeDocument } from "./document";
import type { JsonObject } from "./document";
import { FieldList } from "./fieldlist";
import { FormPreview } from "./preview";
import type { Applies } from "./types";
import { AppliesTo } from "./types";

/** The input. */
interface Draft extends Applies {
  title: string;
  name: string;
  description: string;
  enforce: boolean;
  document: SchemaDocument;
}

const metaschema = "https://json-schema.org/draft/2020-12/schema";

const draftOf = (was: Schema | undefined): Draft => ({
  title: was?.title ?? "",
  name: was?.name ?? "",
  description: was?.description ?? "",
  enforce: was?.enforce ?? false,
  for: was?.for ?? "files",
  types: was?.types ?? [],
  all: !was?.types?.length,
  document: was ? readDocument(was.schema) : { rest: { $schema: metaschema, type: "object", properties: {} }, fields: [newField()] },
});

/** The short name derived from a title: raman-spectra. */
const slug = (title: string) =>
  title
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 60);

/** Unsaved input by page address, to restore it when the user returns. */
const unsaved = new Map<string, Draft>();

interface Props {
  did: string;
  was?: Schema | undefined;
  /** The schemas of the dataspace. */
  all: Schema[];
  done: (saved: Schema) => void;
  cancel: () => void;
}

export function Builder({ did, was, all, done, cancel }: Props) {
  const key = was ? `${was.id} ${was.version}` : did;
  const [first, setFirst] = useState(() => draftOf(was));
  const [draft, setDraft] = useState(unsaved.get(key) ?? first);
  const [restored, setRestored] = useState(unsaved.has(key));
  const [attempt, setAttempt] = useState(0); // renders the fields again
  const schema = writeDocument(draft.document);
  const fieldsOf = ({ document: _, ...d }: Draft) => JSON.stringify({ ...d, types: d.all || d.for === "sets" ? [] : d.types });
  const changed = fieldsOf(draft) !== fieldsOf(first) || JSON.stringify(schema) !== JSON.stringify(writeDocument(first.document));
  useLeaveGuard(changed);
  const titleInput = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (!was) titleInput.current!.focus();
  }, []);
  useEffect(() => {
    if (changed) unsaved.set(key, draft);
    else unsaved.delete(key);
  }, [draft, changed]);
  const change = (part: Partial<Draft>) => setDraft((d) => ({ ...d, ...part }));
  const setFields = (fields: BuilderField[]) => setDraft((d) => ({ ...d, document: { ...d.document, fields } }));
  const discard = () => {
    setFirst((f) => ({ ...f }));
    setDraft(first);
    setRestored(false);
    setAttempt((n) => n + 1);
  };
  const submit = async () => {
    const { title, description, enforce, for: kind } = draft;
    const fields = { title, description, enforce, types: kind === "files" && !draft.all ? draft.types : [] };
    const text = JSON.stringify(schema) === JSON.stringify(was?.schema) ? {} : { schema };
    const saved = await (was ? schemas.edit(was.id, { ...fields, ...text }) : schemas.create(did, { name: draft.name || slug(title), for: kind, ...fields, schema }));
    unsaved.delete(key);
    setFirst(draft);
    done(saved);
  };
  const leave = () => {
    unsaved.delete(key);
    cancel();
  };
  const beyond = beyondFields(draft.document.rest);
  return (
    <div class="builder" key={attempt}>
      <Form action={was ? "Save" : "Create the form"} submit={submit} onCancel={leave}>
        {(errorOf) => (
          <div onKeyDown={ignoreEnter}>
            {restored && (
              <p class="note">
                <span>Your unsaved input was restored.</span>
                <Button class="tight" onClick={discard}>
                  Start over
                </Button>
              </p>
            )}
            <Field label="Title" hint={was ? undefined : draft.title && `Short name, for programs: ${draft.name || slug(draft.title) || "(from the letters a to z of the title)"}`} error={errorOf("title") ?? errorOf("name")}>
              {(a) => <input required ref={titleInput} value={draft.title} placeholder="Such as Raman measurement" onInput={(e) => change({ title: e.currentTarget.value })} {...a} />}
            </Field>
            <Field label="Description" hint="Shown above the form." error={errorOf("description")}>
              {(a) => <input value={draft.description} onInput={(e) => change({ description: e.currentTarget.value })} {...a} />}
            </Field>
            {was ? (
              draft.for === "files" && <AppliesTo did={did} value={draft} others={all.filter((s) => s.id !== was.id)} onChange={change} error={errorOf("types")} />
            ) : (
              <AppliesTo did={did} value={draft} others={all} onChange={change} error={errorOf("types")} />
            )}
            <h2>Fields</h2>
            <FieldList fields={draft.document.fields} depth={0} onChange={setFields} add="Add a field" />
            <p class="hint">In a label, Enter adds the next field; Alt and an arrow up or down move the field.</p>
            {beyond.length > 0 && (
              <p class="note">
                The schema has rules that are not fields: {beyond.join(", ")}. They stay and are checked. Edit them under “For programs”.
              </p>
            )}
            <OtherProperties rest={draft.document.rest} onChange={(rest) => change({ document: { ...draft.document, rest } })} />
            <Strictness enforce={draft.enforce} onChange={(enforce) => change({ enforce })} what={draft.for === "sets" ? "set" : "file"} />
            <Programs draft={draft} isNew={!was} change={change} error={errorOf("schema")} />
          </div>
        )}
      </Form>
      <section class="sheet form-preview" aria-label="Preview of the form">
        <h2>
          Preview <span class="dim">{draft.title}</span>
        </h2>
        {draft.description && <p class="prose preserve dim">{draft.description}</p>}
        <FormPreview fields={draft.document.fields} />
      </section>
    </div>
  );
}

/** Enter in a control does not submit the form builder; Ctrl+Enter does. */
function ignoreEnter(e: KeyboardEvent) {
  if (e.key === "Enter" && e.target instanceof HTMLInputElement && !e.ctrlKey && !e.metaKey) e.preventDefault();
}

function OtherProperties({ rest, onChange }: { rest: JsonObject; onChange: (rest: JsonObject) => void }) {
  const closed = rest.additionalProperties === false || rest.unevaluatedProperties === false;
  const set = (open: boolean) => {
    const { additionalProperties: _, unevaluatedProperties: __, ...others } = rest;
    onChange(open ? others : (withKeyword(others, "additionalProperties", false) as JsonObject));
  };
  return (
    <label class="option">
      <input type="checkbox" checked={!closed} onChange={(e) => set(e.currentTarget.checked)} />
      <span>Allow other properties</span>
    </label>
  );
}

function Strictness({ enforce, onChange, what }: { enforce: boolean; onChange: (enforce: boolean) => void; what: string }) {
  const id = useId();
  const option = (label: string, is: boolean, says: string) => (
    <label class="option">
      <input type="radio" name={id} checked={enforce === is} onChange={() => onChange(is)} />
      <span>
        <strong>{label}</strong>
        <span class="dim">{says}</span>
      </span>
    </label>
  );
  return (
    <fieldset class="strictness">
      <legend>Missing or wrong values</legend>
      {option("Remind", false, `Everything is saved. Missing values are shown, and the ${what} is marked as incomplete.`)}
      {option("Insist", true, `Changes of properties are refused until all fields are valid. Uploads always work: a new file is incomplete until someone fills in the form.`)}
    </fieldset>
  );
}

interface ProgramsProps {
  draft: Draft;
  isNew: boolean;
  change: (part: Partial<Draft>) => void;
  error: string | undefined;
}

/** The text of the schema. Edits update the fields as soon as the text is a valid schema. */
function Programs({ draft, isNew, change, error }: ProgramsProps) {
  const [typed, setTyped] = useState<string | undefined>();
  const id = useId();
  const written = schemaText(writeDocument(draft.document));
  const details = useRef<HTMLDetailsElement>(null);
  const wrong = typed === undefined ? "" : read(typed).error;
  useEffect(() => {
    if (error) details.current!.open = true;
  }, [error]);
  const type = (text: string) => {
    setTyped(text);
    const { document } = read(text);
    if (document) change({ document });
  };
  return (
    <details class="programs" ref={details}>
      <summary>For programs</summary>
      {isNew && (
        <Field label="Short name" hint="2 to 100 lower-case letters, digits, - and _. Cannot be changed later.">
          {(a) => <input class="mono" spellcheck={false} value={draft.name} placeholder={slug(draft.title)} onInput={(e) => change({ name: e.currentTarget.value })} {...a} />}
        </Field>
      )}
      <div class="field">
        <label for={id}>JSON Schema (2020-12)</label>
        <textarea
          id={id}
          class="mono"
          rows={16}
          spellcheck={false}
          value={typed ?? written}
          aria-invalid={!!(wrong || error)}
          aria-describedby={`${id}-hint`}
          ref={(e) => e?.setCustomValidity(wrong)}
          onInput={(e) => type(e.currentTarget.value)}
          onBlur={() => !wrong && setTyped(undefined)}
        />
        <p class={wrong || error ? "error" : "hint"} id={`${id}-hint`} role={wrong || error ? "alert" : undefined}>
          {wrong || error || "The same form as above. Changes here change the fields; rules that the fields cannot show are kept."}
        </p>
      </div>
    </details>
  );
}

function read(text: string): { document?: SchemaDocument; error: string } {
  try {
    return { document: readDocument(parseJson(text)), error: "" };
  } catch (thrown) {
    const { message } = thrown as Error;
    return { error: thrown instanceof SyntaxError ? `This is not JSON yet: ${message}` : message };
  }
}
