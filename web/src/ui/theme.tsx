import { useState } from "preact/hooks";
import { Menu } from "./menu";

const storageKey = "labshelf.theme";
const themes = [
  ["system", "Colours of the system", "screen"],
  ["light", "Light", "sun"],
  ["dark", "Dark", "moon"],
] as const;
type Theme = (typeof themes)[number][0];

/** The theme chosen in this browser. */
function chosenTheme(): Theme {
  const stored = localStorage.getItem(storageKey);
  return stored === "light" || stored === "dark" ? stored : "system";
}

/** Applies the chosen theme. The style sheet itself follows the system theme. */
export function applyTheme() {
  const chosen = chosenTheme();
  if (chosen === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = chosen;
}

export function ThemeSwitch() {
  const [theme, setTheme] = useState(chosenTheme);
  const choose = (to: Theme) => {
    if (to === "system") localStorage.removeItem(storageKey);
    else localStorage.setItem(storageKey, to);
    setTheme(to);
    applyTheme();
  };
  return <Menu label="Colours" icon={themes.find(([t]) => t === theme)![2]} items={themes.map(([t, label, icon]) => ({ label, icon, chosen: t === theme, run: () => choose(t) }))} />;
}
