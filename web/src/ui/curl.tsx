import { root } from "../api";
import { useSession } from "../session";
import { Copy } from "./components";

/** Quotes a word for a POSIX shell. */
export const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

/** Copies the curl command that fetches a path of the interface. It refers to the key by a variable, so that it can be shared; what is read without signing in needs none. */
export function Curl({ path, output }: { path: string; output?: string }) {
  const save = output ? ` -o ${quoted(output)}` : "";
  const key = useSession().user ? ` -H "Authorization: $KEY"` : "";
  const text = `curl${key}${save} ${quoted(location.origin + root + path)}`;
  return (
    <Copy text={text} what="the curl command">
      curl
    </Copy>
  );
}
