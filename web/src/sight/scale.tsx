// A bar that tells how large a picture is.
import { useEffect, useRef } from "preact/hooks";

/** The share of a picture that the bar has at most. */
const share = 0.25;

const units: [metres: number, name: string][] = [[1, "m"], [1e-3, "mm"], [1e-6, "µm"], [1e-9, "nm"], [1e-12, "pm"]];

/** The longest length of 1, 2 or 5 times a power of ten that is not longer, in metres. */
export function roundLength(most: number): number {
  const power = 10 ** Math.floor(Math.log10(most));
  return power * [5, 2, 1].find((n) => n * power <= most * (1 + 1e-9))!;
}

export function lengthText(metres: number): string {
  const [unit, name] = units.find(([size]) => metres >= size * (1 - 1e-9)) ?? units.at(-1)!;
  return `${Number((metres / unit).toPrecision(3))} ${name}`;
}

/** The bar below a canvas that shows `width` metres. */
export function Scale({ canvas, width }: { canvas: { current: HTMLCanvasElement | null }; width: number }) {
  const bar = useRef<HTMLSpanElement>(null);
  const length = roundLength(width * share);
  useEffect(() => {
    const fit = () => bar.current?.style.setProperty("width", `${(drawnWidth(canvas.current!) * length) / width}px`);
    const watch = new ResizeObserver(fit);
    watch.observe(canvas.current!);
    fit();
    return () => watch.disconnect();
  }, [length, width]);
  return (
    <p class="scale">
      <span class="bar" ref={bar} /> {lengthText(length)}
    </p>
  );
}

/** How wide the picture is in the box of a canvas, which may have another shape. */
const drawnWidth = (canvas: HTMLCanvasElement) => {
  const { width, height } = canvas.getBoundingClientRect();
  return canvas.style.objectFit === "fill" ? width : Math.min(width, (height * canvas.width) / canvas.height);
};
