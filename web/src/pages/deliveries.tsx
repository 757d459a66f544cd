import type { Delivery } from "../api";
import { webhooks } from "../api";
import { count, plural } from "../format";
import { Badge, Breadcrumbs, Button, Empty, ErrorMessage, PageHeader, Skeleton, Time } from "../ui/components";
import { useAction, useLoad } from "../ui/load";
import { useRefreshOnFocus } from "../ui/refresh";
import { useTitle } from "../ui/title";
import { nameOf } from "../webhooks/forms";
import { WebhookFacts } from "../webhooks/state";
import type { PageProps } from "./props";

/** A webhook with its last messages and the responses. */
export function DeliveriesPage({ params: { wid = "" } }: PageProps) {
  const { value, problem, reload, refresh } = useLoad(async (signal) => {
    const [webhook, deliveries] = await Promise.all([webhooks.get(wid, signal), webhooks.deliveries(wid, signal)]);
    return { webhook, deliveries };
  }, [wid]);
  useRefreshOnFocus(refresh);
  useTitle(value ? `Deliveries of ${nameOf(value.webhook)}` : "Deliveries");
  if (problem) return <ErrorMessage problem={problem} retry={reload} />;
  if (!value) return <Skeleton lines={8} />;
  const { webhook, deliveries } = value;
  return (
    <>
      <Breadcrumbs path={[{ to: "/webhooks", label: "Webhooks" }]} />
      <PageHeader title={`Deliveries of ${nameOf(webhook)}`} lead="The last 200 messages, newest first.">
        <Button icon="retry" onClick={reload}>
          Reload
        </Button>
      </PageHeader>
      <section class="sheet">
        <WebhookFacts of={webhook} />
      </section>
      {deliveries.length === 0 && <Empty icon="link" title="No deliveries" />}
      {deliveries.length > 0 && (
        <ol class="entries" aria-label="Deliveries">
          {deliveries.map((d) => (
            <Row key={d.number} of={d} repeat={() => webhooks.repeat(wid, d.number).then(reload)} />
          ))}
        </ol>
      )}
    </>
  );
}

const tones = { delivered: "good", failed: "bad", skipped: "plain" } as const;

function Row({ of: d, repeat }: { of: Delivery; repeat: () => Promise<void> }) {
  const { run, busy, problem } = useAction(repeat);
  return (
    <li>
      <p>
        <code>{d.event}</code> <Badge tone={tones[d.state]}>{d.state}</Badge> {d.status > 0 ? `answer ${d.status}` : d.error}
        <span class="when dim">
          <Time at={d.last} />
        </span>
      </p>
      {d.answer && <pre>{d.answer}</pre>}
      <p class="origin">
        <span>message {d.number}</span>
        <span>entry {count(d.entry)}</span>
        <span>{plural(d.tries, "try", "tries")}</span>
        <span>{count(d.milliseconds)} ms</span>
        <Button kind="quiet" class="tight" busy={busy} onClick={() => void run()}>
          Repeat <span class="visually-hidden">message {d.number}</span>
        </Button>
      </p>
      {problem && <ErrorMessage problem={problem} />}
    </li>
  );
}
