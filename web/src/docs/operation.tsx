import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { root } from "../api";
import { Badge, Code } from "../ui/components";
import { commandOf } from "./curl";
import { Inline, Text } from "./markdown";
import type { Answer, Content, Document, Route } from "./openapi";
import { exampleOf, nameOf, resolve } from "./openapi";
import { Fields, SchemaView } from "./schema";

/** A collapsible entry with its own address. */
function Entry({ id, hash, line, children }: { id: string; hash: string; line: ComponentChildren; children: () => ComponentChildren }) {
  const [open, setOpen] = useState(hash === id);
  const ref = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    if (hash !== id) return;
    setOpen(true);
    ref.current!.scrollIntoView();
  }, [hash]);
  return (
    <details class="operation" id={id} open={open} ref={ref} onToggle={(e) => e.currentTarget === e.target && setOpen(e.currentTarget.open)}>
      <summary>
        {line}
      </summary>
      {open && <div class="inside">{children()}</div>}
    </details>
  );
}

export function OperationView({ doc, route, hash }: { doc: Document; route: Route; hash: string }) {
  const { method, path, operation } = route;
  const id = operation.operationId;
  const line = (
    <>
      <span class={`method ${method}`}>{method.toUpperCase()}</span>
      <span class="path">{root + path}</span>
      <span class="dim">{operation.summary}</span>
    </>
  );
  return (
    <Entry id={id} hash={hash} line={line}>
      {() => (
        <>
          <p class="dim">
            <a href={`#${id}`}>{id}</a>
            {operation.security?.length === 0 && " · needs no key"}
          </p>
          {operation.description && <Text text={operation.description} />}
          {!operation.description?.includes("curl ") && <Code text={commandOf(doc, route)} what="the curl command" />}
          <Parameters doc={doc} route={route} />
          <h4>Answers</h4>
          <div>
            {Object.entries(operation.responses).map(([status, answer]) => (
              <AnswerView key={status} doc={doc} status={status} answer={resolve(doc, answer)} />
            ))}
          </div>
        </>
      )}
    </Entry>
  );
}

function Parameters({ doc, route: { operation, parameters } }: { doc: Document; route: Route }) {
  const body = operation.requestBody;
  return (
    <>
      {parameters.length > 0 && (
        <>
          <h4>Parameters</h4>
          <Fields
            doc={doc}
            of={parameters.map((p) => ({ name: p.name, schema: p.schema, required: !!p.required, description: p.description, place: p.in }))}
          />
        </>
      )}
      {body && (
        <>
          <h4>Body{!body.required && " (optional)"}</h4>
          <ContentView doc={doc} content={body.content} />
        </>
      )}
    </>
  );
}

function ContentView({ doc, content }: { doc: Document; content: Content }) {
  return (
    <>
      {Object.entries(content).map(([type, { schema }]) => (
        <div key={type}>
          <p class="dim">
            <code>{type}</code>
          </p>
          {schema && <SchemaView doc={doc} schema={schema} />}
        </div>
      ))}
    </>
  );
}

function AnswerView({ doc, status, answer }: { doc: Document; status: string; answer: Answer }) {
  const good = /^[23]/.test(status);
  const schema = Object.values(answer.content ?? {})[0]?.schema;
  const name = schema && nameOf(schema);
  const headers = Object.entries(answer.headers ?? {}).map(([header, h]) => {
    const found = resolve(doc, h);
    return { name: header, schema: found.schema ?? {}, required: false, description: found.description };
  });
  return (
    <div class="answer">
      <Badge tone={good ? "good" : "plain"}>{status === "default" ? "other" : status}</Badge>
      <div>
        <p>
          <Inline text={answer.description ?? ""} />{" "}
          {!good && name && <a href={`#schema-${name}`}>{name}</a>}
        </p>
        {good && schema && (
          <More label={name ? `The body: ${name}` : "The body"}>
            {() => (
              <>
                <Code text={JSON.stringify(exampleOf(doc, schema), null, 2)} what="the example" />
                <ContentView doc={doc} content={answer.content!} />
              </>
            )}
          </More>
        )}
        {good && headers.length > 0 && <More label={`${headers.length === 1 ? "1 header" : `${headers.length} headers`}`}>{() => <Fields doc={doc} of={headers} />}</More>}
      </div>
    </div>
  );
}

/** Rendered only when it is opened, since the whole document is long. */
function More({ label, children }: { label: string; children: () => preact.ComponentChildren }) {
  const [open, setOpen] = useState(false);
  return (
    <details onToggle={(e) => e.currentTarget === e.target && setOpen(e.currentTarget.open)}>
      <summary>{label}</summary>
      {open && children()}
    </details>
  );
}

export function SchemaEntry({ doc, name, hash }: { doc: Document; name: string; hash: string }) {
  const line = (
    <>
      <span class="method">object</span>
      <span class="path">{name}</span>
    </>
  );
  return (
    <Entry id={`schema-${name}`} hash={hash} line={line}>
      {() => <SchemaView doc={doc} schema={doc.components.schemas[name]!} />}
    </Entry>
  );
}
