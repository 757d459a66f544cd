// The view settings of the list of files: columns and row height. The browser stores them.
import { useEffect, useRef, useState } from "preact/hooks";
import { listen } from "../events";
import { Icon } from "../ui/icons";

/** The optional columns with their widths. */
export const optional = { Format: "80px", Size: "80px", Changed: "110px", Description: "minmax(120px, 2fr)", Created: "110px", Type: "minmax(100px, 1fr)", Version: "70px" } as const;

export type Optional = keyof typeof optional;

export interface ListView {
  columns: Optional[];
  comfortable: boolean;
}

const storageKey = "labshelf.list";

const usual: ListView = { columns: ["Format", "Size", "Changed", "Description"], comfortable: false };

function load(): ListView {
  try {
    const stored = JSON.parse(localStorage.getItem(storageKey) ?? "null");
    if (Array.isArray(stored?.columns)) return { columns: (Object.keys(optional) as Optional[]).filter((c) => stored.columns.includes(c)), comfortable: stored.comfortable === true };
  } catch {
    // of another version
  }
  return usual;
}

/** The settings, and a function that changes them. */
export function useListView(): [ListView, (to: ListView) => void] {
  const [view, setView] = useState(load);
  const change = (to: ListView) => {
    localStorage.setItem(storageKey, JSON.stringify(to));
    setView(to);
  };
  return [view, change];
}

/** The menu of the settings. */
export function ListMenu({ view, onChange }: { view: ListView; onChange: (to: ListView) => void }) {
  const menu = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    const close = (e: Event) => {
      const { current } = menu;
      if (!current?.open || (e.type !== "keydown" && current.contains(e.target as Node)) || (e instanceof KeyboardEvent && e.key !== "Escape")) return;
      if (e instanceof KeyboardEvent && current.contains(document.activeElement)) current.querySelector("summary")!.focus();
      current.open = false;
    };
    return listen(window, "pointerdown focusin keydown", close);
  }, []);
  const toggle = (column: Optional, is: boolean) =>
    onChange({ ...view, columns: (Object.keys(optional) as Optional[]).filter((c) => (c === column ? is : view.columns.includes(c))) });
  return (
    <details class="list-menu" ref={menu}>
      <summary class="button">
        <Icon name="table" /> Columns
      </summary>
      <div>
        <fieldset>
          <legend>Columns</legend>
          {(Object.keys(optional) as Optional[]).map((column) => (
            <label key={column}>
              <input type="checkbox" checked={view.columns.includes(column)} onChange={(e) => toggle(column, e.currentTarget.checked)} /> {column}
            </label>
          ))}
        </fieldset>
        <fieldset>
          <legend>Rows</legend>
          {[false, true].map((comfortable) => (
            <label key={String(comfortable)}>
              <input type="radio" name="density" checked={view.comfortable === comfortable} onChange={() => onChange({ ...view, comfortable })} /> {comfortable ? "Comfortable" : "Compact"}
            </label>
          ))}
        </fieldset>
      </div>
    </details>
  );
}
