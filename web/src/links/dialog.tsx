// The dialog that makes a link, and shows its address once.
import { useState } from "preact/hooks";
import { encode } from "uqr";
import type { LinkKind, NewLink } from "../api";
import { links } from "../api";
import { Link } from "../router";
import { Button, Copy } from "../ui/components";
import { Dialog } from "../ui/dialog";
import { Field } from "../ui/form";
import { Icon } from "../ui/icons";
import { LinkForm } from "./form";
import { nameOf, type Target } from "./target";

const kinds: [LinkKind, string][] = [
  ["share", "Show files: anyone with the link can see and download them"],
  ["request", "Request files: anyone with the link can upload files, but see nothing else"],
];

/** Makes a link to an object or, for a set, a file request. */
export function ShareDialog({ of, close }: { of: Target; close: () => void }) {
  const [kind, setKind] = useState<LinkKind>("share");
  const [made, setMade] = useState<NewLink | undefined>();
  if (made) return <NewLinkDialog of={made} close={close} />;
  const about = { setId: of.set.id, ...(of.files && { resourceIds: of.files.map((r) => r.id) }) };
  return (
    <Dialog title={`Share ${nameOf(of)}`} onClose={close}>
      <p class="dim">
        For people without an account. <Link to={`/links?setId=${of.set.id}`}>Links of this set</Link>
      </p>
      {!of.files && (
        <fieldset class="link-kinds">
          <legend>Purpose of the link</legend>
          {kinds.map(([value, text]) => (
            <label class="option" key={value}>
              <input type="radio" name="kind" checked={kind === value} onChange={() => setKind(value)} /> {text}
            </label>
          ))}
        </fieldset>
      )}
      <LinkForm key={kind} kind={kind} of={of} submit={async (fields) => setMade(await links.create({ ...fields, kind, ...about }))} cancel={close} />
    </Dialog>
  );
}

/** The texts about a new link, for the dialog and for an email. */
const words: Record<LinkKind, { title: string; can: string; mail: string; subject: string }> = {
  share: { title: "The link is ready", can: "download the files, without an account", mail: "Here are the files:", subject: "Files for you" },
  request: { title: "The file request is ready", can: "send files, without an account", mail: "Please send the files here:", subject: "Files, please" },
  invitation: { title: "The invitation is ready", can: "accept it, once", mail: "Please join us here:", subject: "An invitation" },
};

/** A mailto link for a new link. */
function mailOf(l: NewLink): string {
  const invites = l.kind === "invitation";
  const lines = [
    words[l.kind].mail,
    l.address,
    ...(l.expires ? ["", `The link works ${invites ? "once, " : ""}until ${l.expires.slice(0, 10)}.`] : []),
    ...(l.hasPassword ? ["", "It requires a password, which I will send you separately."] : []),
  ];
  return `mailto:?subject=${encodeURIComponent((!invites && l.label) || words[l.kind].subject)}&body=${encodeURIComponent(lines.join("\r\n"))}`;
}

/** Whether an address is a loopback address. */
const isLocal = (address: string) => /^(localhost|.+\.localhost|127(\.\d+){3}|\[::1\]|\[::ffff:7f.*\]|0\.0\.0\.0)\.?$/i.test(new URL(address).hostname);

/** Shows the address of a link, once. */
export function NewLinkDialog({ of: l, close }: { of: NewLink; close: () => void }) {
  return (
    <Dialog title={words[l.kind].title} onClose={close} stays>
      <p>
        Copy the address now: <strong>it is shown only once.</strong> Anyone who has it{l.hasPassword && ", and the password,"} can {words[l.kind].can}.
      </p>
      <div class="new-link">
        <div>
          <Field label="Address of the link">{(a) => <input readOnly value={l.address} onFocus={(e) => e.currentTarget.setSelectionRange(0, l.address.length, "backward")} {...a} />}</Field>
          <Copy text={l.address} what="the address of the link">
            Copy
          </Copy>
          <a class="button quiet" href={mailOf(l)}>
            <Icon name="edit" /> Write an email
          </a>
        </div>
        <QRCode text={l.address} />
      </div>
      {isLocal(l.address) && (
        <div class="note bad" role="alert">
          <p>
            This address works only on the server itself, <strong>{new URL(l.address).host}</strong>. To create a link for other people, open these pages at the address that they
            use and create the link there, or set <code>base_url</code>.
          </p>
        </div>
      )}
      <div class="actions">
        <Button kind="primary" onClick={close}>
          Done
        </Button>
      </div>
    </Dialog>
  );
}

/** The width of the quiet zone in modules, which readers need. */
const quiet = 4;

function QRCode({ text }: { text: string }) {
  const { size, data } = encode(text, { ecc: "M", border: quiet });
  const dark = data.flatMap((row, y) => row.flatMap((on, x) => (on ? [`M${x} ${y}h1v1h-1z`] : [])));
  return (
    <svg class="qr" viewBox={`0 0 ${size} ${size}`} role="img" aria-label="QR code of the address" shape-rendering="crispEdges">
      <path d={dark.join("")} />
    </svg>
  );
}
