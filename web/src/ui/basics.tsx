// Small parts that every page is made of.
import type { ComponentChildren, JSX } from "preact";
import { useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Problem } from "../api";
import * as human from "../human";
import { Link } from "../router";
import { useComeBack } from "./again";
import type { IconName } from "./icons";
import { Icon } from "./icons";
import { asProblem } from "./load";

type ButtonProps = {
  kind?: "plain" | "primary" | "danger" | "quiet";
  icon?: IconName;
  /** Something is under way that it has begun. */
  busy?: boolean;
} & JSX.IntrinsicElements["button"];

/** While it is busy it keeps the focus, and does nothing. */
export function Button({ kind = "plain", icon, busy = false, children, class: extra, onClick, ...rest }: ButtonProps) {
  return (
    <button type="button" class={`button ${kind} ${extra ?? ""}`} aria-disabled={busy} aria-busy={busy} onClick={busy ? undefined : onClick} {...rest}>
      {icon && <Icon name={icon} />}
      {children}
    </button>
  );
}

/** A button that only has a picture; its label is read out, and shown on hover. */
export function IconButton({ icon, label, ...rest }: { icon: IconName; label: string } & Omit<ButtonProps, "icon" | "label">) {
  return (
    <Button kind="quiet" class="only-icon" aria-label={label} title={label} {...rest}>
      <Icon name={icon} />
    </Button>
  );
}

/** Bytes for people; exactly on hover. */
export function Size({ bytes }: { bytes: number }) {
  return (
    <data class="size" value={bytes} title={human.plural(bytes, "byte")}>
      {human.size(bytes)}
    </data>
  );
}

/** An instant for people; exactly on hover. */
export function Time({ at }: { at: string }) {
  if (!at) return null;
  return (
    <time dateTime={at} title={at}>
      {human.ago(at)}
    </time>
  );
}

/** Copies a text, and says that it did. Where the browser refuses, the text is shown to be copied by hand. */
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
      <span class="unseen" role="status">
        {done ? label : ""}
      </span>
    </Button>
  );
}

/** A labelled control. `children` gets the id to put on it, and those of its hint and its error. */
export function Field({
  label,
  hint,
  error,
  children,
}: {
  label: string;
  hint?: ComponentChildren;
  error?: string | undefined;
  children: (attributes: { id: string; "aria-describedby": string; "aria-invalid": boolean }) => ComponentChildren;
}) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({ id, "aria-describedby": `${id}-hint ${id}-error`, "aria-invalid": !!error })}
      <p class="hint" id={`${id}-hint`}>
        {hint}
      </p>
      <p class="error" id={`${id}-error`} role="alert">
        {error}
      </p>
    </div>
  );
}

interface DialogProps {
  title: string;
  onClose: () => void;
  /** Only a button among the children closes it: what it shows is not shown again. */
  stays?: boolean;
  children: ComponentChildren;
}

/** The value of a control of a form. */
const valueOf = (control: EventTarget) =>
  control instanceof HTMLInputElement && /checkbox|radio/.test(control.type) ? control.checked : (control as HTMLInputElement).value;

/**
 * Tells whether a control within an element has another value than before the person went to it. `watch` goes onto the element. The browser
 * asks before such a page is left.
 */
function useTyped() {
  const before = useRef(new Map<EventTarget, unknown>());
  const typed = useRef(new Set<EventTarget>());
  const note = (e: Event) => {
    if (e.target && !before.current.has(e.target)) before.current.set(e.target, valueOf(e.target));
  };
  const watch = {
    onFocusIn: note,
    onPointerDown: note, // a box that is ticked with the mouse gets no focus in some browsers
    onInput: (e: Event) => void (e.target && typed.current.add(e.target)),
  };
  const isTyped = () => [...typed.current].some((t) => (t as Element).isConnected && valueOf(t) !== before.current.get(t));
  useEffect(() => {
    const warn = (e: Event) => isTyped() && e.preventDefault();
    addEventListener("beforeunload", warn);
    return () => removeEventListener("beforeunload", warn);
  }, []);
  return { watch, isTyped };
}

/**
 * A window above the page, closed with Escape: what was typed in it is discarded only after a question. It is the browser's, with its focus
 * trap; afterwards the focus is where it was.
 */
export function Dialog({ title, onClose, stays = false, children }: DialogProps) {
  const ref = useRef<HTMLDialogElement>(null);
  const id = useId();
  const { watch, isTyped } = useTyped();
  const [asking, setAsking] = useState(0); // counts, since a question that lies below its dialog has to be asked anew
  useLayoutEffect(() => {
    const before = document.activeElement;
    ref.current!.showModal();
    return () => before instanceof HTMLElement && before.isConnected && before.focus();
  }, []);
  const cancel = (e: Event) => {
    if (e.target !== ref.current || !(stays || isTyped())) return;
    e.preventDefault();
    if (!stays) setAsking((n) => n + 1);
  };
  // Browsers close it without a cancel event on a second Escape, and with its button.
  const close = (e: Event) => {
    if (e.target !== ref.current) return;
    if (!isTyped()) return onClose();
    ref.current!.showModal();
    setAsking((n) => n + 1);
  };
  return (
    <dialog ref={ref} aria-labelledby={id} onClose={close} onCancel={cancel} {...watch} {...(stays && { closedby: "none" })}>
      <header>
        <h2 id={id}>{title}</h2>
        {!stays && <IconButton icon="cross" label="Close" onClick={() => ref.current?.close()} />}
      </header>
      {children}
      {asking > 0 && <Discard key={asking} discard={onClose} close={() => setAsking(0)} />}
    </dialog>
  );
}

/** Asks whether what was typed in a dialog may go. */
function Discard({ discard, close }: { discard: () => void; close: () => void }) {
  return (
    <Dialog title="Discard what you typed?" onClose={close}>
      <p>It has not been saved.</p>
      <div class="actions">
        <Button kind="danger" onClick={discard}>
          Discard
        </Button>
        <Button kind="primary" autofocus onClick={close}>
          Keep editing
        </Button>
      </div>
    </Dialog>
  );
}

/** What is to be said beside a field, by its name in the interface. */
export type ErrorOf = (field: string) => string | undefined;

/** A form that sends something: what the service refuses stands beside the field that it names, or above the buttons. */
export function Form({
  submit,
  action,
  danger = false,
  onCancel,
  cancel = "Cancel",
  onForm,
  children,
}: {
  submit: () => Promise<void>;
  /** What the button says. */
  action: string;
  danger?: boolean;
  onCancel?: () => void;
  /** What the button says that ends it. */
  cancel?: string;
  /** Hands out the element, for those who read its controls. */
  onForm?: (form: HTMLFormElement | null) => void;
  children: (errorOf: ErrorOf) => ComponentChildren;
}) {
  const [problem, setProblem] = useState<Problem | undefined>();
  const [busy, setBusy] = useState(false);
  const onSubmit = async (e: Event) => {
    e.preventDefault();
    if (busy) return;
    setBusy(true);
    setProblem(undefined);
    try {
      await submit();
    } catch (thrown) {
      setProblem(asProblem(thrown));
    } finally {
      setBusy(false);
    }
  };
  const asked = new Set<string>();
  const errorOf = (field: string) => {
    asked.add(field);
    return problem?.field === field ? problem.detail : undefined;
  };
  const fields = children(errorOf);
  return (
    <form onSubmit={onSubmit} ref={onForm ?? null}>
      {fields}
      {problem && !asked.has(problem.field) && <Failed problem={problem} />}
      <div class="actions">
        {onCancel && <Button onClick={onCancel}>{cancel}</Button>}
        <Button type="submit" kind={danger ? "danger" : "primary"} busy={busy}>
          {action}
        </Button>
      </div>
    </form>
  );
}

/** Asks before something is done that is not easily taken back. */
export function Ask({
  title,
  action,
  submit,
  close,
  children,
}: {
  title: string;
  /** What the button says. */
  action: string;
  submit: () => Promise<void>;
  close: () => void;
  children: ComponentChildren;
}) {
  return (
    <Dialog title={title} onClose={close}>
      <Form action={action} danger submit={submit} onCancel={close}>
        {() => children}
      </Form>
    </Dialog>
  );
}

const helps: Record<number, string> = {
  0: "Check the connection, then try again.",
  403: "Ask an admin of the dataspace for a role that may do this.",
  404: "It may never have existed, or you may not see it.",
  507: "The service has no space left. Tell whoever runs it; reading goes on.",
  503: "The service takes no changes at the moment. Tell whoever runs it, or try again later.",
};

/** What went wrong, what helps, and another try where that makes sense: by itself, once a service that was gone is back. */
export function Failed({ problem, retry }: { problem: Problem; retry?: () => void }) {
  useComeBack(problem, retry);
  return (
    <div class="note bad" role="alert">
      <Icon name="warning" />
      <div>
        <p>{problem.detail}</p>
        {helps[problem.status] && <p class="dim">{helps[problem.status]}</p>}
      </div>
      {retry && (
        <Button icon="retry" onClick={retry}>
          Try again
        </Button>
      )}
    </div>
  );
}

/** Nothing is there: why, and what to do about it. */
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

/** The room that something will take, while it is loading. */
export function Waiting({ lines = 3 }: { lines?: number }) {
  return (
    <div class="waiting" role="status" aria-label="Loading">
      {Array.from({ length: lines }, (_, i) => (
        <div key={i} />
      ))}
    </div>
  );
}

/** A state, role or the like. */
export function Badge({ tone = "plain", children }: { tone?: "plain" | "good" | "bad" | "accent"; children: ComponentChildren }) {
  return <span class={`badge ${tone}`}>{children}</span>;
}

/** The way from the top to here. */
export function Crumbs({ way }: { way: { to: string; label: string }[] }) {
  return (
    <nav class="crumbs" aria-label="Where you are">
      <ol>
        {way.map(({ to, label }) => (
          <li key={to}>
            <Link to={to}>{label}</Link>
          </li>
        ))}
      </ol>
    </nav>
  );
}

/** Facts by name. */
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
