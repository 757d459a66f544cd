import { root, service } from "../api";
import type { PageProps } from "../app";
import { blocks, slug } from "../docs/blocks";
import { Document as Frame, useHash } from "../docs/frame";
import { Blocks, Heading, Inline } from "../docs/markdown";
import type { Document, Route } from "../docs/openapi";
import { routes } from "../docs/openapi";
import { OperationView, SchemaEntry } from "../docs/operation";
import { withOwnAddress } from "../docs/own";
import { setQuery, usePlace } from "../router";
import { Empty, Failed, Waiting } from "../ui/basics";
import { useLoad } from "../ui/load";

/** The interface reference: what the service itself says of its interface. */
export function ReferencePage(_: PageProps) {
  const { value: doc, problem, reload } = useLoad(fetchDocument, []);
  const about = doc ? blocks(doc.info.description) : [];
  const contents = doc
    ? [
        { label: "How it works" },
        ...about.flatMap((b) => (b.kind === "heading" && b.level === 2 ? [{ id: b.id, label: b.text }] : [])),
        { label: "Operations" },
        ...doc.tags.map(({ name }) => ({ id: tagId(name), label: name })),
        { label: "More" },
        { id: "objects", label: "Objects" },
      ]
    : [];
  const lead = (
    <>
      Everything that programs can ask for. As a file: <a href={`${root}/openapi.yaml`}>openapi.yaml</a>, <a href={`${root}/openapi.json`}>openapi.json</a>
    </>
  );
  return (
    <Frame title="Interface reference" lead={lead} contents={contents}>
      {problem && <Failed problem={problem} retry={reload} />}
      {!doc && !problem && <Waiting lines={12} />}
      {doc && (
        <>
          <div class="prose">
            <Blocks of={about} />
          </div>
          <Operations doc={doc} />
        </>
      )}
    </Frame>
  );
}

async function fetchDocument(): Promise<Document> {
  return JSON.parse(withOwnAddress(JSON.stringify(await service.openapi())));
}

const tagId = (name: string) => `tag-${slug(name)}`;

/** Whether all words are somewhere in what identifies an operation. */
function matches({ method, path, operation }: Route, words: string[]): boolean {
  const text = `${method} ${root}${path} ${operation.operationId} ${operation.summary} ${operation.tags.join(" ")}`.toLowerCase();
  return words.every((word) => text.includes(word));
}

function Operations({ doc }: { doc: Document }) {
  const { query } = usePlace();
  const hash = useHash();
  const wanted = query.get("q") ?? "";
  const all = routes(doc);
  const words = wanted.toLowerCase().split(/\s+/).filter(Boolean);
  const found = all.filter((route) => matches(route, words));
  const objects = Object.keys(doc.components.schemas).filter((name) => doc.components.schemas[name]!.properties);
  return (
    <>
      <div class="filter" role="search">
        <label for="filter">Filter the operations below</label>
        <input id="filter" type="search" value={wanted} placeholder="upload, /sets, DELETE …" onInput={(e) => setQuery({ q: e.currentTarget.value })} />
        <span class="dim" role="status">
          {found.length} of {all.length}
        </span>
      </div>
      {!found.length && <Empty icon="book" title="No operation is called so" />}
      {doc.tags.map(({ name, description }) => {
        const own = found.filter((r) => r.operation.tags[0] === name);
        if (!own.length) return null;
        return (
          <section key={name}>
            <div class="tag-of">
              <Heading level={2} id={tagId(name)}>
                {name}
              </Heading>
              <p class="dim">
                <Inline text={description} />
              </p>
            </div>
            {own.map((route) => (
              <OperationView key={route.operation.operationId} doc={doc} route={route} hash={hash} />
            ))}
          </section>
        );
      })}
      <div class="tag-of">
        <Heading level={2} id="objects">
          Objects
        </Heading>
        <p class="dim">What requests and answers are made of.</p>
      </div>
      {objects.map((name) => (
        <SchemaEntry key={name} doc={doc} name={name} hash={hash} />
      ))}
    </>
  );
}
