// Components without state of the service: buttons, values, messages, headings.
import type { ComponentChildren, JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Dataspace, Problem } from "../api";
import * as format from "../format";
import { Link } from "../router";
import type { IconName } from "./icons";
import { Icon } from "./icons";
import { useRetryOnRecovery } from "./refresh";

export type ButtonProps = {
  kind?: "plain" | "primary" | "danger" | "quiet";
  icon?: IconName;
  /** The started action is running. The button keeps the focus and ignores clicks. */
  busy?: boolean;
} & JSX.IntrinsicElements["button"];

export function Button({ kind = "plain", icon, busy = false, children, class: extra, onClick, ...rest }: ButtonProps) {
  return (
    <button type="button" class={`button ${kind} ${extra ?? ""}`} aria-disabled={busy} aria-busy={busy} onClick={busy ? undefined : onClick} {...rest}>
      {icon && <Icon name={icon} />}
      {children}
    </button>
  );
}

/** A button that shows only an icon; screen readers read its label, which is also its tooltip. */
export function IconButton({ icon, label, ...rest }: { icon: IconName; label: string } & Omit<ButtonProps, "icon" | "label">) {
  return (
    <Button kind="quiet" class="only-icon" aria-label={label} title={label} {...rest}>
      <Icon name={icon} />
    </Button>
  );
}

/** Buttons of which one is pressed: the current view. */
export function ViewSwitch<T extends string>({ views, view, onChange }: { views: readonly T[]; view: T; onChange: (view: T) => void }) {
  return (
    <div class="view-switch" role="group" aria-label="Show as">
      {views.map((v) => (
        <Button key={v} kind="quiet" aria-pressed={v === view} onClick={() => onChange(v)}>
          {v[0]!.toUpperCase() + v.slice(1)}
        </Button>
      ))}
    </div>
  );
}

/** A number of bytes, rounded; the exact number is in the tooltip. */
export function Size({ bytes }: { bytes: number }) {
  return (
    <data class="size" value={bytes} title={format.plural(bytes, "byte")}>
      {format.size(bytes)}
    </data>
  );
}

/** A time relative to now; the exact time is in the tooltip. */
export function Time({ at }: { at: string }) {
  if (!at) return null;
  return (
    <time dateTime={at} title={at}>
      {format.ago(at)}
    </time>
  );
}

/** Copies a text to the clipboard, and announces it. If the browser refuses, the text is shown for
    manual copying. */
export function Copy({ text, what, icon = "copy", children }: { text: string; what: string; icon?: IconName; children?: ComponentChildren }) {
  const [done, setDone] = useState(false);
  useEffect(() => {
    if (!done) return;
    const timer = setTimeout(() => setDone(false), 2000);
    return () => clearTimeout(timer);
  }, [done]);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setDone(true);
    } catch {
      prompt(`Copy ${what}:`, text);
    }
  };
  const label = done ? `Copied ${what}` : `Copy ${what}`;
  return (
    <Button kind="quiet" class={children ? "" : "only-icon inline"} aria-label={children ? undefined : label} title={label} onClick={copy}>
      <Icon name={done ? "check" : icon} />
      {children}
      <span class="visually-hidden" role="status">
        {done ? label : ""}
      </span>
    </Button>
  );
}

/** An example that can be copied. Long lines scroll, also with the keyboard. */
export function Code({ text, what = "the example" }: { text: string; what?: string }) {
  return (
    <div class="example">
      <pre tabIndex={0}>{text}</pre>
      <Copy text={text} what={what} />
    </div>
  );
}

const helps: Record<number, string> = {
  0: "Check the connection, then try again.",
  403: "Ask an admin of the dataspace for a role with this permission.",
  404: "It may not exist, or you may lack permission to see it.",
  507: "The service has no space left. Tell its administrator; reading still works.",
  503: "The service accepts no changes at the moment. Tell its administrator, or try again later.",
};

/** An error, what to do about it, and a button that tries again. The retry is automatic when an unreachable service recovers. */
export function ErrorMessage({ problem, retry }: { problem: Problem; retry?: () => void }) {
  useRetryOnRecovery(problem, retry);
  return (
    <div class="note bad" role="alert">
      <Icon name="warning" />
      <div>
        <p>{problem.detail}</p>
        {helps[problem.status] && problem.code !== "quota_exceeded" && <p class="dim">{helps[problem.status]}</p>}
      </div>
      {retry && (
        <Button icon="retry" onClick={retry}>
          Try again
        </Button>
      )}
    </div>
  );
}

/** A placeholder for an empty list: the reason, and what to do about it. */
export function Empty({ icon, title, children }: { icon: IconName; title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <Icon name={icon} />
      <p>
        <strong>{title}</strong>
      </p>
      <div>{children}</div>
    </div>
  );
}

/** A placeholder of the size of what is loading. */
export function Skeleton({ lines = 3 }: { lines?: number }) {
  return (
    <div class="waiting" role="status" aria-label="Loading">
      {Array.from({ length: lines }, (_, i) => (
        <div key={i} />
      ))}
    </div>
  );
}

/** A short label such as a state or a role. */
export function Badge({ tone = "plain", children }: { tone?: "plain" | "good" | "bad" | "accent"; children: ComponentChildren }) {
  return <span class={`badge ${tone}`}>{children}</span>;
}

/** The heading of a page. `children` stand next to it, such as buttons. */
export function PageHeader({ title, lead, children }: { title: string; lead: ComponentChildren; children?: ComponentChildren }) {
  return (
    <div class="title">
      <div>
        <h1>{title}</h1>
        <p class="dim">{lead}</p>
      </div>
      {children}
    </div>
  );
}

interface Crumb {
  to: string;
  label: string;
}

/** Links to the pages above this one, from the top. */
export function Breadcrumbs({ path }: { path: Crumb[] }) {
  return (
    <nav class="breadcrumbs" aria-label="Breadcrumbs">
      <ol>
        {path.map(({ to, label }) => (
          <li key={to}>
            <Link to={to}>{label}</Link>
          </li>
        ))}
      </ol>
    </nav>
  );
}

/** The breadcrumbs of the content of a dataspace. */
export const breadcrumbsTo = (dataspace: Dataspace): Crumb[] => [
  { to: "/", label: "Dataspaces" },
  { to: `/dataspaces/${dataspace.id}`, label: dataspace.title || dataspace.name },
];

/** A list of names and values. */
export function Facts({ facts }: { facts: [name: string, value: ComponentChildren][] }) {
  return (
    <dl class="facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
