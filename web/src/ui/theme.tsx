import { useEffect, useState } from "preact/hooks";
import { IconButton } from "./basics";

const store = "labshelf.theme";
type Theme = "light" | "dark";

/** What the visitor chose here, else what their system says. */
function chosen(): Theme {
  const kept = localStorage.getItem(store);
  if (kept === "light" || kept === "dark") return kept;
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

/** Takes over what was chosen at an earlier visit, before anything is drawn. */
export function applyTheme() {
  const kept = localStorage.getItem(store);
  if (kept) document.documentElement.dataset.theme = kept;
}

export function ThemeSwitch() {
  const [theme, setTheme] = useState(chosen);
  useEffect(() => {
    const system = matchMedia("(prefers-color-scheme: dark)");
    const follow = () => setTheme(chosen());
    system.addEventListener("change", follow);
    return () => system.removeEventListener("change", follow);
  }, []);
  const other: Theme = theme === "dark" ? "light" : "dark";
  const change = () => {
    localStorage.setItem(store, other);
    setTheme(other);
    applyTheme();
  };
  return <IconButton icon={other === "dark" ? "moon" : "sun"} label={`Use ${other} colours`} onClick={change} />;
}
