import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";

interface Props {
  /** The storage name: sections with this name share their open or closed state. */
  name: string;
  title: string;
  class?: string;
  /** Shown next to the title while the section is closed. */
  hint?: string;
  /** The initial state before the user's first choice. */
  open?: boolean;
  children: ComponentChildren;
}

/** A collapsible section; the browser remembers its state. */
export function Fold({ name, title, class: extra = "", hint, open = false, children }: Props) {
  const key = `labshelf.fold.${name}`;
  const [initially] = useState(() => (localStorage.getItem(key) ?? (open ? "open" : "closed")) === "open");
  // before it toggles
  const remember = (e: MouseEvent) => localStorage.setItem(key, (e.currentTarget as HTMLElement).closest("details")!.open ? "closed" : "open");
  return (
    <details class={`fold ${extra}`} open={initially}>
      <summary onClick={remember}>
        <span>{title}</span> {hint && <span class="dim clip">{hint}</span>}
      </summary>
      <div class="folded">{children}</div>
    </details>
  );
}

/** Whether the window is narrow, as on a phone. */
export const isNarrow = () => matchMedia("(max-width: 720px)").matches;
