// A scale bar for a picture.
import { useEffect, useRef } from "preact/hooks";

/** The maximum share of the picture width that the bar takes. */
const share = 0.25;

const units: [metres: number, name: string][] = [[1, "m"], [1e-3, "mm"], [1e-6, "µm"], [1e-9, "nm"], [1e-12, "pm"]];

/** The largest length of 1, 2 or 5 times a power of ten that does not exceed a limit, in metres. */
export function roundLength(most: number): number {
  const power = 10 ** Math.floor(Math.log10(most));
  return power * [5, 2, 1].find((n) => n * power <= most * (1 + 1e-9))!;
}

export function lengthText(metres: number): string {
  const [unit, name] = units.find(([size]) => metres >= size * (1 - 1e-9)) ?? units.at(-1)!;
  return `${Number((metres / unit).toPrecision(3))} ${name}`;
}

/** The bar below a canvas that shows `width` metres. */
export function ScaleBar({ canvas, width }: { canvas: { current: HTMLCanvasElement | null }; width: number }) {
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

/** The displayed width of the picture in the box of a canvas, which can have another aspect ratio.
 */
const drawnWidth = (canvas: HTMLCanvasElement) => {
  const { width, height } = canvas.getBoundingClientRect();
  return canvas.style.objectFit === "fill" ? width : Math.min(width, (height * canvas.width) / canvas.height);
};
