// What programs and scripts need of a page, folded away from what people read.
import { root } from "../api";
import { useSession } from "../session";
import { Copy, Facts } from "./components";
import { Fold } from "./fold";

/** Quotes a word for a POSIX shell. */
export const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

interface Props {
  /** A path of the interface, whose answer the curl command fetches. */
  path: string;
  /** The file into which that goes. */
  output?: string;
  /** What identifies the record: each has a name, a text, and what "Copy …" calls it. */
  facts?: [name: string, text: string, what: string][];
}

/** Ids, addresses, digests, and a curl command. That refers to the key by a variable, so that it can be shared; what is read without signing in needs none. */
export function ForPrograms({ path, output, facts = [] }: Props) {
  const save = output ? ` -o ${quoted(output)}` : "";
  const key = useSession().user ? ` -H "Authorization: $KEY"` : "";
  const command = `curl${key}${save} ${quoted(location.origin + root + path)}`;
  const all: Props["facts"] = [...facts, ["Command", command, "the curl command"]];
  return (
    <Fold name="programs" title="For programs">
      <Facts
        facts={all.map(([name, text, what]) => [
          name,
          <>
            <code class="clip" title={text}>
              {text}
            </code>
            <Copy text={text} what={what} />
          </>,
        ])}
      />
    </Fold>
  );
}

/** What identifies a record in the interface. */
export const factsOf = (of: { id: string; url: string }, noun: string): [string, string, string][] => [
  ["Id", of.id, "the id"],
  ["Address", of.url, `the address of the ${noun}`],
];
