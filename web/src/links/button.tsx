import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { Dataspace } from "../api";
import { Button, ErrorMessage } from "../ui/components";
import { Dialog } from "../ui/dialog";
import { useAction } from "../ui/load";
import type { Target } from "./target";

/** Shows a dialog, which can be closed. */
type Shows = (close: () => void) => ComponentChildren;

/** A button whose dialog is loaded when it is opened. */
function Opens({ label, load }: { label: string; load: () => Promise<Shows> }) {
  const [dialog, setDialog] = useState<{ shows: Shows } | undefined>();
  const { run, busy, problem, dismiss } = useAction(() => load().then((shows) => setDialog({ shows })));
  return (
    <>
      <Button icon="share" busy={busy} onClick={run}>
        {label}
      </Button>
      {problem && (
        <Dialog title="The dialog could not be loaded" onClose={dismiss}>
          <ErrorMessage problem={problem} retry={run} />
        </Dialog>
      )}
      {dialog?.shows(() => setDialog(undefined))}
    </>
  );
}

/** The button that makes links. */
export function ShareButton({ of }: { of: Target }) {
  return <Opens label="Share …" load={() => import("./dialog").then(({ ShareDialog }) => (close) => <ShareDialog of={of} close={close} />)} />;
}

/** The button that invites somebody into a dataspace or, without one, to have an account. */
export function InviteButton({ into }: { into?: Pick<Dataspace, "id" | "name" | "title"> }) {
  return <Opens label="Invite …" load={() => import("./invite").then(({ InviteDialog }) => (close) => <InviteDialog into={into} close={close} />)} />;
}
