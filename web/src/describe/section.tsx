// The metadata of a dataspace, a set or a file, on its page. The form that changes it is loaded on
// demand.
import type { ComponentChildren, ComponentType } from "preact";
import { useState } from "preact/hooks";
import type { Asked, DataSet, Dataspace, Resource } from "../api";
import { schemas } from "../api";
import { Link } from "../router";
import { Badge, Button, ErrorMessage } from "../ui/components";
import { Dialog } from "../ui/dialog";
import { useAction } from "../ui/load";
import { AskedValues, otherProperties } from "./askedvalues";
import type { Kind, Member, Metadata, Source, Value } from "./metadata";
import { lacking, memberLabels, sourceLabels } from "./metadata";
import type { FormProps } from "./props";
import { spaced } from "./vocabulary";
import { CreatorLine, DateLine, FundingLine, LinkedText, PlaceLine, RelatedLine, TagLinks, valueRows, valueText } from "./words";

interface Props<T> {
  kind: Kind;
  record: T;
  /** Its schema. */
  asked?: Asked | undefined;
  mayEdit: boolean;
  /** Receives the changed record. */
  update: (record: T) => void;
  /** Opens the form by another control. */
  open?: (() => void) | undefined;
}

const nouns = { dataspace: "dataspace", set: "set", resource: "file" };

/** The metadata of a record; empty if it has none and the user cannot change it. */
export function Described<T extends Dataspace | DataSet | Resource>({ kind, record, asked, mayEdit, update, open }: Props<T>) {
  const { metadata } = record;
  const [form, setForm] = useState<{ Form: ComponentType<FormProps<T>>; asked: Asked | undefined } | undefined>();
  const [focus, setFocus] = useState<string | undefined>();
  const { run, busy, problem } = useAction(async () => {
    // The schema can have changed since the page was loaded.
    const [{ DescribeForm }, newest] = await Promise.all([import("./form"), asked?.form && kind !== "dataspace" ? schemas.of(`${kind}s`, record.id) : undefined]);
    setForm({ Form: DescribeForm, asked: newest });
  });
  const edit = (member?: string) => {
    setFocus(member);
    if (open) open();
    else void run();
  };
  const close = () => setForm(undefined);
  const shape = asked?.form;
  if (!metadata && !mayEdit && !shape) return null;
  const said = metadata || shape;
  return (
    <>
      <section class={`described ${said ? "sheet" : ""}`} aria-label="Metadata">
        {said && (
          <h2>
            Metadata {asked?.incomplete && <Badge tone="bad">incomplete</Badge>}
          </h2>
        )}
        {metadata?.tags && <TagLinks tags={metadata.tags} />}
        {shape && <AskedValues asked={asked} metadata={metadata ?? {}} kind={nouns[kind]} />}
        {metadata ? <Said of={metadata} names={shape?.fields.map((f) => f.name!)} /> : !shape && <p class="dim">This {nouns[kind]} has no tags or properties yet.</p>}
        {mayEdit && kind === "set" && <Missing of={metadata ?? {}} edit={edit} />}
        {problem && <ErrorMessage problem={problem} retry={run} />}
        {mayEdit && (
          <Button icon="edit" class="tight" kind={asked?.incomplete ? "primary" : "plain"} busy={busy} onClick={() => edit()}>
            {shape && asked.incomplete ? "Fill in the form" : metadata ? "Edit metadata" : "Describe"}
          </Button>
        )}
        {asked?.schema && (
          <p class="dim">
            Form: <Link to={`/schemas/${asked.schema.id}`}>{asked.schema.title || asked.schema.name}</Link>
            {metadata?.schema && asked.newest! > asked.schema.version && `, version ${asked.schema.version}; version ${asked.newest} is the newest`}
          </p>
        )}
      </section>
      {form && (
        <Dialog title={`Describe the ${nouns[kind]}`} onClose={close}>
          <form.Form kind={kind} was={record} asked={form.asked} focus={focus} done={(r) => (update(r), close())} cancel={close} />
        </Dialog>
      )}
    </>
  );
}

/** The core fields, and the properties outside of the form. */
function Said({ of: m, names = [] }: { of: Metadata; names?: string[] | undefined }) {
  const others = otherProperties(m.properties, names);
  return (
    <>
      <CoreFields of={m} />
      {Object.keys(others).length > 0 && <Properties rows={valueRows(others)} sources={m.sources} title={names.length ? "Other property" : "Property"} />}
    </>
  );
}

function Properties({ rows, sources = {}, title }: { rows: [string, Value][]; sources: Record<string, Source> | undefined; title: string }) {
  return (
    <table class="plain properties">
      <thead>
        <tr>
          <th>{title}</th>
          <th>Value</th>
        </tr>
      </thead>
      <tbody>
        {rows.map(([name, value]) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td>
              <LinkedText text={valueText(value)} /> <SourceOf name={name.split(" › ")[0]!} sources={sources} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** The source of a value, unless a person entered it. */
export function SourceOf({ name, sources = {} }: { name: string; sources: Record<string, Source> | undefined }) {
  const source = sources[name];
  return source ? <Badge>{sourceLabels[source]}</Badge> : null;
}

/** One line for each of several entries. */
function lines<T>(all: T[] | undefined, line: (one: T) => ComponentChildren) {
  return (
    all && (
      <ul>
        {all.map((one, i) => (
          <li key={i}>{line(one)}</li>
        ))}
      </ul>
    )
  );
}

function CoreFields({ of: m }: { of: Metadata }) {
  const facts: [string, ComponentChildren][] = [
    [memberLabels.creators, lines(m.creators, (c) => <CreatorLine of={c} />)],
    [memberLabels.publisher, m.publisher],
    [memberLabels.publicationYear, m.publicationYear],
    [memberLabels.resourceType, m.resourceType && spaced(m.resourceType)],
    [memberLabels.licence, m.licence && <a href={`https://spdx.org/licenses/${encodeURIComponent(m.licence)}.html`} rel="noreferrer">{m.licence}</a>],
    [memberLabels.keywords, m.keywords?.join(", ")],
    [memberLabels.related, lines(m.related, (r) => <RelatedLine of={r} />)],
    [memberLabels.dates, lines(m.dates, (d) => <DateLine of={d} />)],
    [memberLabels.funding, lines(m.funding, (f) => <FundingLine of={f} />)],
    [memberLabels.places, lines(m.places, (p) => <PlaceLine of={p} />)],
  ];
  const said = facts.filter(([, value]) => value);
  if (!said.length) return null;
  return (
    <dl class="facts core">
      {said.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** The members that a set lacks for a publication, and recommended ones. Each word opens the form
    at its field. */
function Missing({ of, edit }: { of: Metadata; edit: (member: string) => void }) {
  const { needed, useful } = lacking(of);
  const links = (names: Member[]) =>
    names.map((name, i) => (
      <>
        {i > 0 && ", "}
        <button type="button" class="as-link" key={name} onClick={() => edit(name)}>
          {memberLabels[name].toLowerCase()}
        </button>
      </>
    ));
  if (!needed.length && !useful.length) return null;
  return (
    <p class="dim">
      {needed.length > 0 ? <>Missing for a publication: {links(needed)}.</> : "Everything that a publication needs is filled in."} {useful.length > 0 && <>Recommended: {links(useful)}.</>}
    </p>
  );
}
