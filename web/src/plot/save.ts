// Saves a plot as a file.
import type uPlot from "uplot";

/** The current value of a colour of the style sheet: a canvas does not resolve custom properties. */
export function colour(element: HTMLElement, name: string, scheme?: "light"): string {
  const probe = document.createElement("i");
  if (scheme) probe.style.setProperty("color-scheme", scheme);
  probe.style.setProperty("color", `var(--${name})`);
  element.append(probe);
  const value = getComputedStyle(probe).color;
  probe.remove();
  return value;
}

/** @param title the file name, whose extension is replaced */
export function saveFile(content: Blob | string, type: string, title: string, extension: string) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(typeof content === "string" ? new Blob([content], { type }) : content);
  link.download = `${title.replace(/^.*[/\\]/, "").replace(/\.\w+$/, "") || "plot"}.${extension}`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/** Saves the chart with its background and a legend as PNG. */
export function savePNG(chart: uPlot, names: string[], title: string) {
  const from = chart.ctx.canvas;
  const scale = from.width / chart.width;
  const head = 44 * scale;
  const canvas = document.createElement("canvas");
  canvas.width = from.width;
  canvas.height = from.height + head;
  const context = canvas.getContext("2d")!;
  context.fillStyle = colour(chart.root, "sheet");
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(from, 0, head);
  context.textBaseline = "top";
  context.fillStyle = colour(chart.root, "ink");
  context.font = `600 ${14 * scale}px system-ui, sans-serif`;
  context.fillText(title, 10 * scale, 6 * scale);
  context.font = `${12 * scale}px system-ui, sans-serif`;
  let at = 10 * scale;
  names.forEach((name, i) => {
    context.fillStyle = colour(chart.root, `series-${i + 1}`);
    context.fillRect(at, 29 * scale, 12 * scale, 3 * scale);
    context.fillText(name, at + 16 * scale, 24 * scale);
    at += context.measureText(name).width + 32 * scale;
  });
  canvas.toBlob((blob) => blob && saveFile(blob, "image/png", title, "png"));
}
