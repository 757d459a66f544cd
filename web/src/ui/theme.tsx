import { useEffect, useState } from "preact/hooks";
import { listen } from "../events";
import { IconButton } from "./components";

const storageKey = "labshelf.theme";
const system = matchMedia("(prefers-color-scheme: dark)");
type Theme = "light" | "dark";

/** The theme in use: the one chosen in this browser, else that of the system. */
function currentTheme(): Theme {
  const chosen = localStorage.getItem(storageKey);
  if (chosen === "light" || chosen === "dark") return chosen;
  return system.matches ? "dark" : "light";
}

/** Applies the theme chosen at an earlier visit, before anything is drawn. */
export function applyTheme() {
  const chosen = localStorage.getItem(storageKey);
  if (chosen) document.documentElement.dataset.theme = chosen;
}

export function ThemeSwitch() {
  const [theme, setTheme] = useState(currentTheme);
  useEffect(() => listen(system, "change", () => setTheme(currentTheme())), []);
  const other: Theme = theme === "dark" ? "light" : "dark";
  const change = () => {
    localStorage.setItem(storageKey, other);
    setTheme(other);
    applyTheme();
  };
  return <IconButton icon={other === "dark" ? "moon" : "sun"} label={`Use ${other} colours`} onClick={change} />;
}
