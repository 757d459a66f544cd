// Information for programs and scripts, collapsed by default.
import { root } from "../api";
import { useSession } from "../session";
import { Copy, Facts } from "./components";
import { Fold } from "./fold";

/** Quotes a word for a POSIX shell. */
export const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

interface Props {
  /** A path of the API for the curl command. */
  path: string;
  /** The output file. */
  output?: string;
  /** The identifying values of the record: each has a name, a text, and a noun for "Copy …". */
  facts?: [name: string, text: string, what: string][];
}

/** Ids, addresses, digests, and a curl command. The command refers to the key by a variable, so
    that it can be shared. Open data needs no key. */
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

/** The identifying values of a record. */
export const factsOf = (of: { id: string; url: string }, noun: string): [string, string, string][] => [
  ["Id", of.id, "the id"],
  ["Address", of.url, `the address of the ${noun}`],
];
