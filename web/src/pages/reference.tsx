import { lexer } from "marked";
import { root, service } from "../api";
import { withOwnAddress } from "../docs/address";
import { DocumentLayout, useHash } from "../docs/layout";
import { contentsOf, Heading, Inline, Rendered, slug } from "../docs/markdown";
import type { Document, Route } from "../docs/openapi";
import { routes } from "../docs/openapi";
import { OperationView, SchemaEntry } from "../docs/operation";
import { setQuery, useLocation } from "../router";
import { Empty, ErrorMessage, Skeleton } from "../ui/components";
import { useLoad } from "../ui/load";

/** The API reference: the OpenAPI document of the service. */
export function ReferencePage() {
  const { value: doc, problem, reload } = useLoad(fetchDocument, []);
  const about = doc ? lexer(doc.info.description) : [];
  const contents = doc
    ? [
        { label: "How it works" },
        ...contentsOf(about),
        { label: "Operations" },
        ...doc.tags.map(({ name }) => ({ id: tagId(name), label: name })),
        { label: "More" },
        { id: "objects", label: "Objects" },
      ]
    : [];
  const lead = (
    <>
      All requests of the API. As a file: <a href={`${root}/openapi.yaml`}>openapi.yaml</a>, <a href={`${root}/openapi.json`}>openapi.json</a>
    </>
  );
  return (
    <DocumentLayout title="API reference" lead={lead} contents={contents}>
      {problem && <ErrorMessage problem={problem} retry={reload} />}
      {!doc && !problem && <Skeleton lines={12} />}
      {doc && (
        <>
          <div class="prose">
            <Rendered tokens={about} />
          </div>
          <Operations doc={doc} />
        </>
      )}
    </DocumentLayout>
  );
}

async function fetchDocument(): Promise<Document> {
  return JSON.parse(withOwnAddress(JSON.stringify(await service.openapi())));
}

const tagId = (name: string) => `tag-${slug(name)}`;

/** Whether the identifying texts of an operation contain all words. */
function matches({ method, path, operation }: Route, words: string[]): boolean {
  const text = `${method} ${root}${path} ${operation.operationId} ${operation.summary} ${operation.tags.join(" ")}`.toLowerCase();
  return words.every((word) => text.includes(word));
}

function Operations({ doc }: { doc: Document }) {
  const { query } = useLocation();
  const hash = useHash();
  const filter = query.get("q") ?? "";
  const all = routes(doc);
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  const matching = all.filter((route) => matches(route, words));
  const objects = Object.keys(doc.components.schemas).filter((name) => doc.components.schemas[name]!.properties);
  return (
    <>
      <div class="filter" role="search" aria-label="Operations">
        <label for="filter">Filter the operations</label>
        <input id="filter" type="search" value={filter} placeholder="upload, /sets, DELETE …" onInput={(e) => setQuery({ q: e.currentTarget.value })} />
        <span class="dim" role="status">
          {matching.length} of {all.length}
        </span>
      </div>
      {!matching.length && <Empty icon="book" title="No operations match" />}
      {doc.tags.map(({ name, description }) => {
        const own = matching.filter((r) => r.operation.tags[0] === name);
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
        <p class="dim">The bodies of requests and responses.</p>
      </div>
      {objects.map((name) => (
        <SchemaEntry key={name} doc={doc} name={name} hash={hash} />
      ))}
    </>
  );
}
