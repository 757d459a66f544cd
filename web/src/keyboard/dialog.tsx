import { useState } from "preact/hooks";
import { Button } from "../ui/components";
import { Dialog } from "../ui/dialog";
import { areOn, offered, switchKeys } from "./keys";

/** Keys of the browser, which always work. */
const always = [
  ["↑ ↓", "go through a list"],
  ["Enter", "open the focused item"],
  ["Ctrl V", "upload copied files or a copied picture"],
] as const;

/** The keys of this page, and the switch for single keys. */
export function KeyboardDialog({ onClose }: { onClose: () => void }) {
  const [on, setOn] = useState(areOn);
  const change = (on: boolean) => {
    switchKeys(on);
    setOn(on);
  };
  return (
    <Dialog title="Keyboard" onClose={onClose}>
      <dl class="keys">
        {offered().map(({ key, label }) => (
          <div key={key} class={on || key === "?" ? "" : "dim"}>
            <dt>
              <kbd>{key === "Delete" ? "Del" : key}</kbd>
            </dt>
            <dd>{label}</dd>
          </div>
        ))}
        {always.map(([key, label]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{label}</dd>
          </div>
        ))}
      </dl>
      <Button onClick={() => change(!on)}>{on ? "Switch single keys off" : "Switch single keys on"}</Button>
    </Dialog>
  );
}
