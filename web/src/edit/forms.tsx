// Forms that make or change a record. What may stand in a field is the service's rule: its refusal is shown beside the field.
import type { DataSet, Dataspace, Resource } from "../api";
import { dataspaces, resources, sets } from "../api";
import { Field, Form } from "../ui/basics";
import { useEdit } from "./save";

interface Props<T> {
  /** What is changed; left out, a new one is made. */
  was?: T;
  done: (record: T) => void;
  cancel: () => void;
}

/** What a form holds, by the names of its controls. */
function read(form: HTMLFormElement, names: string[]): Record<string, string> {
  const data = new FormData(form);
  return Object.fromEntries(names.map((name) => [name, String(data.get(name) ?? "")]));
}

/** What dataspaces and sets are called by; the name only while there is none. */
function Words({ was, errorOf }: { was: Dataspace | DataSet | undefined; errorOf: (field: string) => string | undefined }) {
  return (
    <>
      {!was && (
        <Field label="Name" hint="2 to 100 of lower-case letters, digits, - and _. Cannot be changed later." error={errorOf("name")}>
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

const names = { name: "Name", title: "Title", description: "Description", visibility: "Who may read it", origin: "Origin", format: "Format" };

export function DataspaceForm({ was: record, done, cancel }: Props<Dataspace>) {
  const fields = ["title", "description", "visibility", "origin"];
  const { was, save, clashes } = useEdit(record, dataspaces, names);
  let form: HTMLFormElement | null = null;
  const make = () => {
    const sent = read(form!, ["name", ...fields]);
    if (!sent.origin) delete sent.origin;
    return dataspaces.create(sent);
  };
  return (
    <Form
      action={was ? "Save" : "Make"}
      submit={async () => done(await (was ? save(read(form!, fields)) : make()))}
      onCancel={cancel}
      onForm={(f) => (form = f)}
    >
      {(errorOf) => (
        <>
          <Words was={was} errorOf={errorOf} />
          <Field label="Who may read it" error={errorOf("visibility")}>
            {(a) => (
              <select name="visibility" {...a}>
                <option value="private">Its members</option>
                <option value="public" selected={was?.visibility === "public"}>
                  Everybody with an account
                </option>
              </select>
            )}
          </Field>
          <Field label="Origin" hint="Where it comes from, such as a grant or another system. Listings can be filtered by it." error={errorOf("origin")}>
            {(a) => <input name="origin" defaultValue={was?.origin} {...a} />}
          </Field>
          {clashes}
        </>
      )}
    </Form>
  );
}

export function SetForm({ was: record, dataspaceId, done, cancel }: Props<DataSet> & { dataspaceId: string }) {
  const fields = ["title", "description"];
  const { was, save, clashes } = useEdit(record, sets, names);
  let form: HTMLFormElement | null = null;
  const make = () => sets.create({ ...read(form!, ["name", ...fields]), dataspaceId });
  return (
    <Form
      action={was ? "Save" : "Make"}
      submit={async () => done(await (was ? save(read(form!, fields)) : make()))}
      onCancel={cancel}
      onForm={(f) => (form = f)}
    >
      {(errorOf) => (
        <>
          <Words was={was} errorOf={errorOf} />
          {clashes}
        </>
      )}
    </Form>
  );
}

export function ResourceForm({ was: record, done, cancel }: Props<Resource> & { was: Resource }) {
  const { was, save, clashes } = useEdit(record, resources, names);
  let form: HTMLFormElement | null = null;
  const submit = async () => done(await save(read(form!, ["name", "description", "format"])));
  return (
    <Form action="Save" submit={submit} onCancel={cancel} onForm={(f) => (form = f)}>
      {(errorOf) => (
        <>
          <Field label="Name" error={errorOf("name")}>
            {(a) => <input name="name" required autofocus defaultValue={was!.name} {...a} />}
          </Field>
          <Field label="Description" error={errorOf("description")}>
            {(a) => <textarea name="description" defaultValue={was!.description} {...a} />}
          </Field>
          <Field label="Format" hint="For people and catalogues, such as CSV or JPG." error={errorOf("format")}>
            {(a) => <input name="format" defaultValue={was!.format} {...a} />}
          </Field>
          {clashes}
        </>
      )}
    </Form>
  );
}
