// Draws our own documents as nodes: nothing in them is ever read as HTML.
import type { ComponentChildren } from "preact";
import { Link } from "../router";
import { Copy } from "../ui/basics";
import type { Block } from "./blocks";
import { blocks } from "./blocks";

/** A whole text. */
export function Markdown({ text }: { text: string }) {
  return <Blocks of={blocks(text)} />;
}

export function Blocks({ of }: { of: Block[] }) {
  return (
    <>
      {of.map((block, i) => (
        <One key={i} block={block} />
      ))}
    </>
  );
}

function One({ block }: { block: Block }) {
  switch (block.kind) {
    case "heading":
      return (
        <Heading level={block.level} id={block.id}>
          <Inline text={block.text} />
        </Heading>
      );
    case "paragraph":
      return (
        <p>
          <Inline text={block.text} />
        </p>
      );
    case "code":
      return <Code text={block.text} />;
    case "table":
      return <Table head={block.head} rows={block.rows} />;
    case "list": {
      const items = block.items.map((within, i) => (
        <li key={i}>
          <Item of={within} />
        </li>
      ));
      return block.ordered ? <ol>{items}</ol> : <ul>{items}</ul>;
    }
  }
}

/** An item of one paragraph is set without the room that paragraphs have. */
function Item({ of }: { of: Block[] }) {
  const [first, ...rest] = of;
  if (first?.kind !== "paragraph") return <Blocks of={of} />;
  return (
    <>
      <Inline text={first.text} />
      <Blocks of={rest} />
    </>
  );
}

/** A heading with an address of its own. */
export function Heading({ level, id, children }: { level: number; id: string; children: ComponentChildren }) {
  const Tag = `h${level}` as "h2";
  return (
    <Tag id={id} class="anchored">
      {children}
      <a class="anchor" href={`#${id}`} aria-label="Link to this part">
        #
      </a>
    </Tag>
  );
}

/** Something to be typed elsewhere. A long line is scrolled, with the keyboard too. */
export function Code({ text, what = "the example" }: { text: string; what?: string }) {
  return (
    <div class="example">
      <pre tabIndex={0}>{text}</pre>
      <Copy text={text} what={what} />
    </div>
  );
}

function Table({ head, rows }: { head: string[]; rows: string[][] }) {
  return (
    <div class="wide" tabIndex={0} role="region" aria-label="Table">
      <table class="plain">
        <thead>
          <tr>
            {head.map((cell, i) => (
              <th key={i} scope="col">
                <Inline text={cell} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, i) => (
            <tr key={i}>
              {row.map((cell, j) => (
                <td key={j}>
                  <Inline text={cell} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const parts = /`([^`]+)`|\*\*(.+?)\*\*|\*([^*]+)\*|\[([^\]]+)\]\(([^)\s]+)\)/g;

/** Code, strong and emphasised words, and links, within a line. */
export function Inline({ text }: { text: string }) {
  const nodes: ComponentChildren[] = [];
  let from = 0;
  for (const found of text.matchAll(parts)) {
    nodes.push(text.slice(from, found.index));
    const [all, code, strong, emphasis, label, to] = found;
    if (code !== undefined) nodes.push(<code>{code}</code>);
    else if (strong !== undefined) nodes.push(<strong><Inline text={strong} /></strong>);
    else if (emphasis !== undefined) nodes.push(<em>{emphasis}</em>);
    else if (to!.startsWith("/")) nodes.push(<Link to={to!}>{label}</Link>);
    else nodes.push(/^(https?:|#)/.test(to!) ? <a href={to}>{label}</a> : label);
    from = found.index + all.length;
  }
  nodes.push(text.slice(from));
  return <>{nodes}</>;
}
