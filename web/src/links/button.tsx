import { useState } from "preact/hooks";
import { Button, ErrorMessage } from "../ui/components";
import { Dialog } from "../ui/dialog";
import { useAction } from "../ui/load";
import type { ShareDialog } from "./dialog";
import type { Target } from "./target";

/** The button that makes links. Its dialog is loaded when it is opened. */
export function ShareButton({ of }: { of: Target }) {
  const [dialog, setDialog] = useState<{ Share: typeof ShareDialog } | undefined>();
  const { run, busy, problem, dismiss } = useAction(() => import("./dialog").then((m) => setDialog({ Share: m.ShareDialog })));
  return (
    <>
      <Button icon="share" busy={busy} onClick={run}>
        Share …
      </Button>
      {problem && (
        <Dialog title="The dialog could not be loaded" onClose={dismiss}>
          <ErrorMessage problem={problem} retry={run} />
        </Dialog>
      )}
      {dialog && <dialog.Share of={of} close={() => setDialog(undefined)} />}
    </>
  );
}
