// One schema of a dataspace: its form, its versions, and its JSON Schema.
import type { FormField, PropertyForm, Schema, SchemaVersion } from "../api";
import { dataspaces, schemas } from "../api";
import { FormPreview } from "../schemas/preview";
import { readDocument, schemaText } from "../schemas/document";
import { appliesTo } from "../schemas/types";
import { Link, useLocation } from "../router";
import { useMe } from "../session";
import { Badge, Breadcrumbs, breadcrumbsTo, Button, Code, ErrorMessage, Facts, Skeleton, Time } from "../ui/components";
import { ConfirmButton } from "../ui/dialog";
import { Icon } from "../ui/icons";
import { useAction, useLoad } from "../ui/load";
import { permissionsIn } from "../ui/permissions";
import { useRefreshOnFocus } from "../ui/refresh";
import { useTitle } from "../ui/title";
import { UserName } from "../ui/users";
import type { PageProps } from "./props";

export function SchemaPage({ params: { kid = "" } }: PageProps) {
  const me = useMe();
  const { query } = useLocation();
  const { value, problem, reload, refresh } = useLoad(async (signal) => {
    const [schema, versions] = await Promise.all([schemas.get(kid), schemas.versions(kid)]);
    const [dataspace, may] = await Promise.all([dataspaces.get(schema.dataspaceId), permissionsIn(schema.dataspaceId, me, signal)]);
    return { schema, versions, dataspace, may };
  }, [kid]);
  useRefreshOnFocus(refresh);
  const schema = value?.schema;
  useTitle(schema && (schema.title || schema.name));
  if (problem) return <ErrorMessage problem={problem} retry={reload} />;
  if (!value || !schema) return <Skeleton lines={10} />;
  const { versions, dataspace, may } = value;
  const active = schema.state === "active";
  const wanted = Number(query.get("version") ?? schema.version);
  const shown = versions.find((v) => v.version === wanted) ?? { version: schema.version, schema: schema.schema, form: schema.form };
  return (
    <>
      <Breadcrumbs path={[...breadcrumbsTo(dataspace), { to: `/dataspaces/${dataspace.id}?view=schemas`, label: "Forms" }]} />
      <div class="title">
        <div>
          <h1>
            {schema.title || schema.name} {!active && <Badge tone="bad">deleted</Badge>}
          </h1>
          {schema.description && <p class="preserve prose">{schema.description}</p>}
          {!active && <p>This form is deleted and no longer applies. Filled-in values stay.</p>}
        </div>
        {may.manage && (
          <div class="actions">
            {active && (
              <Link to={`/schemas/${kid}/edit`} class="button">
                <Icon name="edit" /> Edit
              </Link>
            )}
            {active ? <Delete of={schema} done={reload} /> : <RestoreSchema of={schema} done={reload} />}
          </div>
        )}
      </div>
      <div class="with-sidebar">
        <section class="sheet form-preview" aria-label="The form">
          <h2>
            {shown.version === schema.version ? "The form" : `Version ${shown.version} of the form`} <span class="dim">Try it: nothing is saved.</span>
          </h2>
          <Drawn of={shown} key={shown.version} />
        </section>
        <div>
          <section class="sheet" aria-label="About this form">
            <Facts
              facts={[
                ["For", appliesTo(schema)],
                ["Missing or wrong values", schema.enforce ? "required: changes are refused until all fields are valid" : "reminder: changes are saved and marked as incomplete"],
                ["Other properties", shown.form.open ? "allowed" : "not allowed"],
                [
                  "Changed",
                  <span key="m">
                    <Time at={schema.modified} /> by <UserName id={schema.modifiedBy} />
                  </span>,
                ],
              ]}
            />
          </section>
          <Versions of={schema} versions={versions} shown={shown.version} />
        </div>
      </div>
      <details class="programs">
        <summary>For programs</summary>
        <p class="dim">
          Short name <code>{schema.name}</code>, id <code>{schema.id}</code>, version {shown.version} as JSON Schema (2020-12):
        </p>
        <Code text={schemaText(shown.schema)} what="the JSON Schema" />
      </details>
    </>
  );
}

function Drawn({ of }: { of: { schema: unknown } }) {
  return <FormPreview fields={readDocument(of.schema).fields} />;
}

function Versions({ of, versions, shown }: { of: Schema; versions: SchemaVersion[]; shown: number }) {
  const newest = [...versions].sort((a, b) => b.version - a.version);
  return (
    <section class="sheet" aria-label="Versions">
      <h2>Versions</h2>
      <ol class="schema-versions">
        {newest.map((v, i) => (
          <li key={v.version}>
            <Link to={`/schemas/${of.id}${i ? `?version=${v.version}` : ""}`} aria-current={v.version === shown ? "page" : undefined}>
              Version {v.version}
            </Link>{" "}
            <span class="dim">
              <Time at={v.created} /> by <UserName id={v.createdBy} />
            </span>
            {newest[i + 1] && <p class="dim">{differences(newest[i + 1]!.form, v.form)}</p>}
          </li>
        ))}
      </ol>
    </section>
  );
}

/** Describes the differences of a form to its previous version. */
function differences(before: PropertyForm, now: PropertyForm): string {
  const byName = (fields: FormField[]) => new Map(fields.map((f) => [f.name, f]));
  const [was, is] = [byName(before.fields), byName(now.fields)];
  const labels = (fields: FormField[]) => fields.map((f) => f.label).join(", ");
  const parts: [string, FormField[]][] = [
    ["new", now.fields.filter((f) => !was.has(f.name))],
    ["gone", before.fields.filter((f) => !is.has(f.name))],
    ["changed", now.fields.filter((f) => was.has(f.name) && JSON.stringify(was.get(f.name)) !== JSON.stringify(f))],
  ];
  const said = parts.filter(([, fields]) => fields.length).map(([word, fields]) => `${word}: ${labels(fields)}`);
  return said.join("; ") || "other rules or another order";
}

function Delete({ of, done }: { of: Schema; done: () => void }) {
  return (
    <ConfirmButton
      icon="trash"
      label="Delete"
      confirm={{
        title: "Delete this form?",
        action: "Delete",
        submit: () => schemas.remove(of.id).then(done),
        children: <p>The form no longer applies, and files and sets no longer count as incomplete because of it. Filled-in values stay. You can restore the form.</p>,
      }}
    />
  );
}

function RestoreSchema({ of, done }: { of: Schema; done: () => void }) {
  const { run, busy, problem } = useAction(() => schemas.restore(of.id).then(done));
  return (
    <>
      {problem && <ErrorMessage problem={problem} />}
      <Button icon="retry" busy={busy} onClick={run}>
        Restore
      </Button>
    </>
  );
}
