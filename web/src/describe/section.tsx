// What people say about a dataspace, a set or a file, on its page. The form that changes it is loaded when it is opened.
import type { ComponentChildren, ComponentType } from "preact";
import { useState } from "preact/hooks";
import type { DataSet, Dataspace, Resource } from "../api";
import { Button, ErrorMessage } from "../ui/components";
import { Dialog } from "../ui/dialog";
import { useAction } from "../ui/load";
import type { Kind, Metadata, Value } from "./metadata";
import { memberLabels, missingIn } from "./metadata";
import type { FormProps } from "./props";
import { spaced } from "./vocabulary";
import { CreatorLine, DateLine, FundingLine, LinkedText, PlaceLine, RelatedLine, TagLinks, valueRows, valueText } from "./words";

interface Props<T> {
  kind: Kind;
  record: T;
  mayEdit: boolean;
  /** Gets the changed record. */
  update: (record: T) => void;
}

const nouns = { dataspace: "dataspace", set: "set", resource: "file" };

/** The metadata of a record; nothing if there are none and the user may not change them. */
export function Described<T extends Dataspace | DataSet | Resource>({ kind, record, mayEdit, update }: Props<T>) {
  const { metadata } = record;
  const [Form, setForm] = useState<{ of: ComponentType<FormProps<T>> } | undefined>();
  const { run, busy, problem } = useAction(() => import("./form").then((m) => setForm({ of: m.DescribeForm })));
  const close = () => setForm(undefined);
  if (!metadata && !mayEdit) return null;
  return (
    <>
      <section class={`described ${metadata ? "sheet" : ""}`} aria-label="Metadata">
        {metadata && <h2>Metadata</h2>}
        {metadata ? <Said of={metadata} /> : <p class="dim">This {nouns[kind]} has no tags or properties yet.</p>}
        {mayEdit && kind === "set" && <Missing of={metadata ?? {}} />}
        {problem && <ErrorMessage problem={problem} retry={run} />}
        {mayEdit && (
          <Button icon="edit" class="tight" busy={busy} onClick={run}>
            {metadata ? "Edit metadata" : "Describe"}
          </Button>
        )}
      </section>
      {Form && (
        <Dialog title={`Describe the ${nouns[kind]}`} onClose={close}>
          <Form.of kind={kind} was={record} done={(r) => (update(r), close())} cancel={close} />
        </Dialog>
      )}
    </>
  );
}

function Said({ of: m }: { of: Metadata }) {
  return (
    <>
      {m.tags && <TagLinks tags={m.tags} />}
      <CoreFields of={m} />
      {m.properties && <Properties rows={valueRows(m.properties)} />}
    </>
  );
}

function Properties({ rows }: { rows: [string, Value][] }) {
  return (
    <table class="plain properties">
      <thead>
        <tr>
          <th>Property</th>
          <th>Value</th>
        </tr>
      </thead>
      <tbody>
        {rows.map(([name, value]) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td>
              <LinkedText text={valueText(value)} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
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

/** What a set lacks for a publication. */
function Missing({ of }: { of: Metadata }) {
  const missing = missingIn(of).map((name) => memberLabels[name].toLowerCase());
  if (!missing.length) return null;
  return <p class="dim">For a publication it lacks: {missing.join(", ")}.</p>;
}
