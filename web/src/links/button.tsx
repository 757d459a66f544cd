import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { Dataspace } from "../api";
import { adminsInvite } from "../api";
import { useSession } from "../session";
import { Button, ErrorMessage } from "../ui/components";
import { Dialog } from "../ui/dialog";
import { useAction } from "../ui/load";
import { Menu } from "../ui/menu";
import type { Permissions } from "../ui/permissions";
import type { Target } from "./target";

/** Shows a dialog that can be closed. */
type Shows = (close: () => void) => ComponentChildren;

/** A dialog that is loaded on demand. */
function useLazyDialog(load: () => Promise<Shows>) {
  const [dialog, setDialog] = useState<{ shows: Shows } | undefined>();
  const { run, busy, problem, dismiss } = useAction(() => load().then((shows) => setDialog({ shows })));
  const shown = (
    <>
      {problem && (
        <Dialog title="The dialog could not be loaded" onClose={dismiss}>
          <ErrorMessage problem={problem} retry={run} />
        </Dialog>
      )}
      {dialog?.shows(() => setDialog(undefined))}
    </>
  );
  return { run, busy, shown };
}

type Into = Pick<Dataspace, "id" | "name" | "title">;

const useShareDialog = (of: Target | undefined) => useLazyDialog(() => import("./dialog").then(({ ShareDialog }) => (close) => of && <ShareDialog of={of} close={close} />));

const useInviteDialog = (into?: Into) => useLazyDialog(() => import("./invite").then(({ InviteDialog }) => (close) => <InviteDialog into={into} close={close} />));

/** The button that makes links. */
export function ShareButton({ of }: { of: Target }) {
  const { run, busy, shown } = useShareDialog(of);
  return (
    <>
      <Button icon="share" busy={busy} onClick={run}>
        Share …
      </Button>
      {shown}
    </>
  );
}

/** The button that invites a person into a dataspace or, without one, to create an account. */
export function InviteButton({ into }: { into?: Into }) {
  const { run, busy, shown } = useInviteDialog(into);
  return (
    <>
      <Button icon="share" busy={busy} onClick={run}>
        Invite …
      </Button>
      {shown}
    </>
  );
}

interface ShareProps {
  dataspace: Dataspace;
  may: Permissions;
  /** The target of a link; without it, the dataspace is shared. */
  of?: Target;
}

/** All ways to share the object of the page: links, invitations, members. */
export function ShareMenu({ dataspace, may, of }: ShareProps) {
  const { user: me } = useSession();
  const link = useShareDialog(of);
  const invite = useInviteDialog(dataspace);
  const active = dataspace.state === "active";
  if (!me) return null;
  return (
    <>
      <Menu
        label="Share"
        before="share"
        items={[
          !!of && may.write && { label: "Make a link …", icon: "link", run: link.run },
          may.manage && active && (me.sysadmin || adminsInvite) && { label: "Invite …", icon: "user", run: invite.run },
          { label: "Members", icon: "people", to: `/dataspaces/${dataspace.id}/members` },
          may.write && { label: of ? "Links of this set" : "Links and invitations", icon: "share", to: of ? `/links?setId=${of.set.id}` : "/links" },
        ]}
      />
      {link.shown}
      {invite.shown}
    </>
  );
}
