import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";

interface Props {
  /** The sections with this name are open, or closed, where the user has left one of them so. */
  name: string;
  title: string;
  class?: string;
  /** Shown beside the title while the section is closed. */
  hint?: string;
  /** Until the user has decided. */
  open?: boolean;
  children: ComponentChildren;
}

/** A section that can be folded away; the browser remembers it. */
export function Fold({ name, title, class: extra = "", hint, open = false, children }: Props) {
  const key = `labshelf.fold.${name}`;
  const [initially] = useState(() => (localStorage.getItem(key) ?? (open ? "open" : "closed")) === "open");
  const remember = (e: MouseEvent) => localStorage.setItem(key, (e.currentTarget as HTMLElement).closest("details")!.open ? "closed" : "open"); // before it changes
  return (
    <details class={`fold ${extra}`} open={initially}>
      <summary onClick={remember}>
        <span>{title}</span> {hint && <span class="dim clip">{hint}</span>}
      </summary>
      <div class="folded">{children}</div>
    </details>
  );
}

/** Whether the window has little room, as a telephone. */
export const isNarrow = () => matchMedia("(max-width: 720px)").matches;
