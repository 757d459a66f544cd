import { root } from "../api";
import { Copy } from "./basics";

/** A word for a POSIX shell. */
const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

/** Copies the command that fetches the same. The key stays out of it: nobody should paste one into a chat. */
export function Curl({ path, output }: { path: string; output?: string }) {
  const save = output ? ` -o ${quoted(output)}` : "";
  const text = `curl -H "Authorization: $KEY"${save} ${quoted(location.origin + root + path)}`;
  return (
    <Copy text={text} what="the curl command">
      curl
    </Copy>
  );
}
