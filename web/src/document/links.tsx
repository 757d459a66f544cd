// Links and pictures of a document: files of its set are resolved by name. All others become
// external links, and nothing is fetched from them.
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { queryOf } from "../api";
import { Link } from "../router";
import { ExternalLink } from "../ui/markdown";
import { type Reference, referenceOf } from "./references";
import { useDocument } from "./tools";

/** The page address of a reference. */
function addressOf(set: string, { name, fragment }: Reference): string {
  return name.endsWith("/") ? `/sets/${set}${queryOf({ folder: name })}` : `/sets/${set}/file${queryOf({ name })}${fragment}`;
}

export function DocumentLink({ href, children }: { href: string; children: ComponentChildren }) {
  const tools = useDocument();
  const set = tools?.file.setId;
  const to = tools && referenceOf(href, tools.file.name);
  if (to && !to.name && to.fragment) return <a href={to.fragment}>{children}</a>;
  if (!set || !to?.name) return <ExternalLink href={href}>{children}</ExternalLink>;
  return (
    <Link to={addressOf(set, to)} title={to.name}>
      {children}
    </Link>
  );
}

/** Pictures embedded in a notebook, by name: type and base64 content. */
export type Attachments = Record<string, Record<string, string>>;

export function DocumentPicture({ href, text, attachments }: { href: string; text: string; attachments?: Attachments | undefined }) {
  const tools = useDocument();
  const to = tools?.file.setId ? referenceOf(href, tools.file.name) : undefined;
  const [found, setFound] = useState<{ of: string; address?: string }>({ of: "" });
  useEffect(() => {
    if (!to?.name) return;
    let used = true;
    tools!.picture(to.name).then((address) => used && setFound({ of: to.name, address }), () => used && setFound({ of: to.name }));
    return () => void (used = false);
  }, [tools, to?.name]);
  const attached = /^attachment:(.+)$/.exec(href)?.[1];
  const data = attached && attachments && Object.hasOwn(attachments, attached) ? attachments[attached] : undefined;
  if (data) return <Attached data={data} text={text} />;
  const label = `[image${text ? ": " : ""}${text}]`;
  if (!to?.name) return <ExternalLink href={href}>{label}</ExternalLink>;
  if (found.of === to.name && !found.address) return <DocumentLink href={href}>{label}</DocumentLink>;
  return found.address ? <img src={found.address} alt={text} /> : <span class="dim">{label}</span>;
}

const attachedTypes = ["image/png", "image/jpeg", "image/gif", "image/webp"] as const;

function Attached({ data, text }: { data: Record<string, string>; text: string }) {
  const type = attachedTypes.find((t) => typeof data[t] === "string");
  return type ? <Base64Picture type={type} base64={data[type]!} text={text} /> : <span class="dim">[image: {text}]</span>;
}

/** A base64 picture, shown from an object URL. */
export function Base64Picture({ type, base64, text }: { type: string; base64: string; text: string }) {
  const [address, setAddress] = useState("");
  const [failed, setFailed] = useState(false);
  useEffect(() => {
    try {
      const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
      const created = URL.createObjectURL(new Blob([bytes], { type }));
      setAddress(created);
      return () => URL.revokeObjectURL(created);
    } catch {
      setFailed(true);
    }
  }, [type, base64]);
  if (failed) return <span class="hint">This image cannot be shown.</span>;
  return address ? <img src={address} alt={text} onError={() => setFailed(true)} /> : null;
}
