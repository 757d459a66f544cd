// The events and the state of a webhook as text.
import type { Webhook } from "../api";
import { dataspaces } from "../api";
import { count, plural } from "../format";
import { Link } from "../router";
import { Badge, Facts, Time } from "../ui/components";
import { useLoad } from "../ui/load";
import { UserName } from "../ui/users";

const reasons = {
  failed: "the last of ten attempts failed",
  gone: "the receiver rejected further messages (410)",
  role_lost: "its user lost the role",
  key_ended: "the key that created it was revoked or expired",
  restored: "the service was restored from a backup",
};

/** The details of a webhook, without its deliveries. */
export function WebhookFacts({ of: w }: { of: Webhook }) {
  return (
    <Facts
      facts={[
        ["URL", <code>{w.url}</code>],
        ["Changes of", w.dataspaceId ? <DataspaceLink id={w.dataspaceId} /> : "everything"],
        ["Kinds", w.events.length ? <code>{w.events.join(" ")}</code> : "all"],
        ["State", <StateWords of={w} />],
        ["Position", <Position of={w} />],
        ["Acts for", <UserName id={w.modifiedBy} />],
      ]}
    />
  );
}

function DataspaceLink({ id }: { id: string }) {
  const { value } = useLoad(() => dataspaces.get(id), [id]);
  return <Link to={`/dataspaces/${id}`}>{value ? value.title || value.name : id}</Link>;
}

function StateWords({ of: w }: { of: Webhook }) {
  if (w.state === "active") return <Badge tone="good">active</Badge>;
  return (
    <span>
      <Badge tone="bad">paused</Badge> {w.paused && <Time at={w.paused} />}
      {w.reason && `: ${reasons[w.reason]}`}
      {w.because && <span class="dim"> ({w.because})</span>}
    </span>
  );
}

function Position({ of: w }: { of: Webhook }) {
  return (
    <span>
      entry {count(w.position)} of the audit log, after {plural(w.deliveries, "message")}
      {w.tries > 0 && `; the next message was tried ${plural(w.tries, "time")}`}
      {w.nextTry && (
        <>
          ; next try <Time at={w.nextTry} />
        </>
      )}
    </span>
  );
}
