import { useState } from "preact/hooks";
import type { Webhook } from "../api";
import { webhooks } from "../api";
import { Link } from "../router";
import { useMe } from "../session";
import { Button, Empty, ErrorMessage, PageHeader, Skeleton } from "../ui/components";
import { ConfirmButton, Dialog } from "../ui/dialog";
import { useAction, useLoad } from "../ui/load";
import { useRefreshOnFocus } from "../ui/refresh";
import { useTitle } from "../ui/title";
import { nameOf, SecretDialog, WebhookForm } from "../webhooks/forms";
import { WebhookFacts } from "../webhooks/state";

/** The webhooks that the user can manage: all for sysadmins, otherwise the webhooks of dataspaces that
    they administer. */
export function WebhooksPage() {
  const me = useMe();
  const { value, problem, reload, refresh } = useLoad((signal) => webhooks.list(signal), []);
  const [open, setOpen] = useState<Webhook | "new" | undefined>();
  const [created, setCreated] = useState<Webhook | undefined>();
  useTitle("Webhooks");
  useRefreshOnFocus(refresh);
  const close = () => setOpen(undefined);
  const changed = (w?: Webhook) => {
    close();
    if (w?.secret) setCreated(w);
    reload();
  };
  return (
    <>
      <PageHeader title="Webhooks" lead={me.sysadmin ? "A webhook sends a signed message to a URL for each change." : "A webhook sends a signed message to a URL for each change in a dataspace that you are an admin of."}>
        <div class="actions">
          <Button icon="retry" onClick={reload}>
            Reload
          </Button>
          <Button icon="plus" kind="primary" onClick={() => setOpen("new")}>
            New webhook
          </Button>
        </div>
      </PageHeader>
      {problem && <ErrorMessage problem={problem} retry={reload} />}
      {!value && !problem && <Skeleton lines={6} />}
      {value?.length === 0 && <Empty icon="link" title="No webhooks" />}
      {value?.map((w) => (
        <section class="sheet" key={w.id}>
          <h2>{nameOf(w)}</h2>
          <WebhookFacts of={w} />
          <Actions of={w} change={() => setOpen(w)} changed={changed} />
        </section>
      ))}
      {open && (
        <Dialog title={open === "new" ? "New webhook" : `Change ${nameOf(open)}`} onClose={close}>
          <WebhookForm {...(open !== "new" && { was: open })} done={changed} cancel={close} />
        </Dialog>
      )}
      {created && <SecretDialog of={created} close={() => setCreated(undefined)} />}
    </>
  );
}

interface ActionsProps {
  of: Webhook;
  change: () => void;
  /** Called with the response to a change. */
  changed: (w?: Webhook) => void;
}

function Actions({ of: w, change, changed }: ActionsProps) {
  const { run, busy, problem } = useAction(() => webhooks.resume(w.id).then(changed));
  const of = <span class="visually-hidden">{nameOf(w)}</span>;
  const skip = (all: boolean) => () => webhooks.skip(w.id, all).then(changed);
  return (
    <>
      {problem && <ErrorMessage problem={problem} />}
      <div class="actions">
        <Link to={`/webhooks/${w.id}`} class="button">
          Deliveries {of}
        </Link>
        <Button onClick={change}>Change {of}</Button>
        {w.state === "paused" && (
          <Button busy={busy} onClick={() => void run()}>
            Resume {of}
          </Button>
        )}
        {w.tries > 0 && (
          <ConfirmButton
            label={<>Skip {of}</>}
            confirm={{ title: "Skip the message that fails?", action: "Skip", submit: skip(false), children: <p>The receiver does not get this message. Later messages are sent.</p> }}
          />
        )}
        {(w.tries > 0 || w.state === "paused") && (
          <ConfirmButton
            label={<>Skip all {of}</>}
            confirm={{ title: "Skip everything up to now?", action: "Skip all", submit: skip(true), children: <p>The receiver gets no messages about earlier changes.</p> }}
          />
        )}
        <ConfirmButton
          label={<>Rotate secret {of}</>}
          confirm={{
            title: "Replace the secret?",
            action: "Rotate",
            submit: () => webhooks.rotate(w.id).then(changed),
            children: <p>The new secret is shown once. For 24 hours, messages are signed with both secrets.</p>,
          }}
        />
        <ConfirmButton
          kind="danger"
          label={<>Remove {of}</>}
          confirm={{
            title: `Remove ${nameOf(w)}?`,
            action: "Remove",
            submit: () => webhooks.remove(w.id).then(() => changed()),
            children: <p>The webhook and its delivery history are permanently removed. Pending messages are discarded.</p>,
          }}
        />
      </div>
    </>
  );
}
