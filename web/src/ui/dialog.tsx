import type { ComponentChildren } from "preact";
import { useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { listen } from "../events";
import type { ButtonProps } from "./components";
import { Button, IconButton } from "./components";
import { Form } from "./form";

/** The value of a form control. */
const valueOf = (control: EventTarget) =>
  control instanceof HTMLInputElement && /checkbox|radio/.test(control.type) ? control.checked : (control as HTMLInputElement).value;

/**
 * Reports whether a control within an element differs from its value before the first input. `handlers` belong on the element. While one
 * differs, or `always`, the browser asks before the page is left.
 */
function useUnsavedInput(always: boolean) {
  const before = useRef(new Map<EventTarget, unknown>());
  const changed = useRef(new Set<EventTarget>());
  const remember = (e: Event) => {
    if (e.target && !before.current.has(e.target)) before.current.set(e.target, valueOf(e.target));
  };
  const handlers = {
    onFocusIn: remember,
    onPointerDown: remember, // in some browsers a click on a checkbox does not focus it
    onInput: (e: Event) => void (e.target && changed.current.add(e.target)),
  };
  const isUnsaved = () => always || [...changed.current].some((t) => (t as Element).isConnected && valueOf(t) !== before.current.get(t));
  useEffect(() => listen(window, "beforeunload", (e: Event) => isUnsaved() && e.preventDefault()), []);
  return { handlers, isUnsaved };
}

interface DialogProps {
  title: string;
  onClose: () => void;
  /** Whether only a button among the children closes the dialog, because its content is not shown
      again. */
  stays?: boolean;
  /** A question to confirm closing without a button of the content, even if nothing was typed. */
  discards?: string | undefined;
  children: ComponentChildren;
}

/** A modal dialog of the browser, with its focus trap. Escape closes it; unsaved input is
    discarded only after confirmation. After closing, the focus returns to its earlier element. */
export function Dialog({ title, onClose, stays = false, discards, children }: DialogProps) {
  const ref = useRef<HTMLDialogElement>(null);
  const id = useId();
  const { handlers, isUnsaved } = useUnsavedInput(!!discards);
  // a counter, so that the question reopens after its dialog has closed
  const [asking, setAsking] = useState(0);
  useLayoutEffect(() => {
    const before = document.activeElement;
    ref.current!.showModal();
    return () => before instanceof HTMLElement && before.isConnected && before.focus();
  }, []);
  const cancel = (e: Event) => {
    if (e.target !== ref.current || !(stays || isUnsaved())) return;
    e.preventDefault();
    if (!stays) setAsking((n) => n + 1);
  };
  // On a second Escape, and by the dialog's own button, browsers close it without a cancel event.
  const close = (e: Event) => {
    if (e.target !== ref.current) return;
    if (!isUnsaved()) return onClose();
    ref.current!.showModal();
    setAsking((n) => n + 1);
  };
  return (
    <dialog ref={ref} aria-labelledby={id} onClose={close} onCancel={cancel} {...handlers} {...(stays && { closedby: "none" })}>
      <header>
        <h2 id={id}>{title}</h2>
        {!stays && <IconButton icon="cross" label="Close" onClick={() => ref.current?.close()} />}
      </header>
      {children}
      {asking > 0 && <Discard key={asking} title={discards ?? "Discard unsaved changes?"} discard={onClose} close={() => setAsking(0)} />}
    </dialog>
  );
}

function Discard({ title, discard, close }: { title: string; discard: () => void; close: () => void }) {
  return (
    <Dialog title={title} onClose={close}>
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

interface ConfirmProps {
  title: string;
  /** The label of the button that confirms. */
  action: string;
  submit: () => Promise<void>;
  children: ComponentChildren;
}

/** Asks for confirmation before an action that is hard to undo. */
export function Confirm({ title, action, submit, close, children }: ConfirmProps & { close: () => void }) {
  return (
    <Dialog title={title} onClose={close}>
      <Form action={action} danger submit={submit} onCancel={close}>
        {() => children}
      </Form>
    </Dialog>
  );
}

/** A button whose action requests confirmation. */
export function ConfirmButton({ label, confirm, ...button }: { label: ComponentChildren; confirm: ConfirmProps } & Omit<ButtonProps, "label">) {
  const [asking, setAsking] = useState(false);
  const close = () => setAsking(false);
  return (
    <>
      <Button {...button} onClick={() => setAsking(true)}>
        {label}
      </Button>
      {asking && <Confirm {...confirm} submit={() => confirm.submit().then(close)} close={close} />}
    </>
  );
}
