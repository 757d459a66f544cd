// Short messages at the lower edge of the window with an action, such as undo.
import type { ComponentChildren } from "preact";
import { useEffect, useReducer, useState } from "preact/hooks";
import { Button, IconButton } from "./components";
import { useAction } from "./load";
import { Icon } from "./icons";

interface Notice {
  id: number;
  text: ComponentChildren;
  /** The action of the button; its result replaces the message. */
  action?: { label: string; run: () => Promise<ComponentChildren> };
}

/** The lifetime of a message in ms, while neither pointer nor focus is on it. */
const lifetime = 60_000;

const listeners = new Set<() => void>();
let notices: Notice[] = [];
let ids = 0;

function change(to: Notice[]) {
  notices = to;
  for (const listener of listeners) listener();
}

/** Shows a message on every page until it is closed, or for a minute. */
export function notify(text: ComponentChildren, action?: Notice["action"]) {
  change([...notices.slice(-2), { id: ++ids, text, ...(action && { action }) }]);
}

export function Notices() {
  const [, redraw] = useReducer((n: number, _: void) => n + 1, 0);
  useEffect(() => {
    const listener = () => redraw();
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }, []);
  return (
    <div class="notices" role="status" aria-label="Notices">
      {notices.map((n) => (
        <One key={n.id} of={n} close={() => change(notices.filter((o) => o.id !== n.id))} />
      ))}
    </div>
  );
}

function One({ of, close }: { of: Notice; close: () => void }) {
  const [held, setHeld] = useState(false);
  const [result, setResult] = useState<{ text: ComponentChildren } | undefined>();
  const { run, busy, problem } = useAction(async () => setResult({ text: await of.action!.run() }));
  useEffect(() => {
    if (held || busy) return;
    const timer = setTimeout(close, lifetime);
    return () => clearTimeout(timer);
  }, [held, busy, result]);
  const hold = () => setHeld(true);
  const release = () => setHeld(false);
  return (
    <div class="notice" onPointerEnter={hold} onPointerLeave={release} onFocusIn={hold} onFocusOut={release}>
      <Icon name={problem ? "warning" : "check"} />
      <div>
        {result?.text ?? of.text}
        {problem && <p class="error">{problem.detail}</p>}
      </div>
      {of.action && !result && (
        <Button icon="retry" busy={busy} onClick={run}>
          {of.action.label}
        </Button>
      )}
      <IconButton icon="cross" label="Close the notice" onClick={close} />
    </div>
  );
}
