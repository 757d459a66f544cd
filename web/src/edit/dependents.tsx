import type { RefObject } from "preact";
import type { Key } from "../api";
import { users } from "../api";
import { plural } from "../format";
import { ErrorMessage, Skeleton } from "../ui/components";
import { useLoad } from "../ui/load";

const kinds = { key: "Key", share: "Share", request: "File request", invitation: "Invitation", webhook: "Webhook" };

/** The texts about an action that ends everything created with a key. */
const texts = {
  revoke: { ends: "Revoking it also revokes or pauses everything that was created with it:", keep: "Keep these, because another key replaces this one" },
  limit: { ends: "Limiting it also revokes or pauses everything that was created with it:", keep: "Keep these, and limit only the key itself" },
};

interface Props {
  uid: string;
  of: Key;
  by: keyof typeof texts;
  /** Receives the checkbox that keeps the dependents, if there are any. */
  keep: RefObject<HTMLInputElement | null>;
}

/** Lists everything that was created with a key and ends by an action, and offers to keep it. */
export function EndsWith({ uid, of, by, keep }: Props) {
  const { value, problem, reload } = useLoad((signal) => users.dependents(uid, of.id, signal), [uid, of.id]);
  if (problem) return <ErrorMessage problem={problem} retry={reload} />;
  if (!value) return <Skeleton />;
  const shown = value.data.slice(0, 10);
  return (
    <>
      {by === "limit" && value.sessions > 0 && (
        <p>
          {plural(value.sessions, "browser is", "browsers are")} signed in with this key. The limits apply there, too.
        </p>
      )}
      {value.count > 0 && (
        <>
          <p>{texts[by].ends}</p>
          <ul>
            {shown.map((d) => (
              <li key={d.id}>
                {kinds[d.kind]} {d.label || <span class="mono">{d.id}</span>}
              </li>
            ))}
            {value.count > shown.length && <li>{value.count - shown.length} more</li>}
          </ul>
          <label class="option">
            <input type="checkbox" ref={keep} />
            <span>{texts[by].keep}</span>
          </label>
        </>
      )}
    </>
  );
}
