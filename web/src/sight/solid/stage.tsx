// The picture of a scene, rotated by dragging, touch, keys and buttons. It is redrawn only after
// changes.
import { useEffect, useId, useMemo, useRef, useState } from "preact/hooks";
import { listen } from "../../events";
import { Button } from "../../ui/components";
import { Renderer } from "./renderer";
import type { Scene } from "./scene";
import { home, moved, rotated, type View, zoomed } from "./orientation";

const step = Math.PI / 18;
const enlarged = 1.25;

/** The maximum number of pixels; the browser scales down larger ones for smooth edges. */
const maxPixels = 4_000_000;

/** The time after the last change during which fewer pixels are drawn, in ms. */
const restAfter = 200;

type Change = (view: View) => View;

const changes: [label: string, sign: string, keys: string[], change: Change][] = [
  ["Turn left", "←", ["ArrowLeft"], (v) => rotated(v, -step, 0)],
  ["Turn right", "→", ["ArrowRight"], (v) => rotated(v, step, 0)],
  ["Turn up", "↑", ["ArrowUp"], (v) => rotated(v, 0, -step)],
  ["Turn down", "↓", ["ArrowDown"], (v) => rotated(v, 0, step)],
  ["Smaller", "−", ["-", "_"], (v) => zoomed(v, 1 / enlarged)],
  ["Larger", "+", ["+", "="], (v) => zoomed(v, enlarged)],
];

const moves: Record<string, [right: number, up: number]> = { ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0], ArrowUp: [0, 0.1], ArrowDown: [0, -0.1] };

/** A canvas with its renderer, and a function that schedules one redraw before the next frame. */
class Screen {
  private readonly renderer: Renderer;
  private frame = 0;
  private rest = 0;

  constructor(
    readonly canvas: HTMLCanvasElement,
    private view: View,
  ) {
    this.renderer = new Renderer(canvas);
  }

  show(scene: Scene) {
    this.renderer.show(scene);
    this.later(true);
  }

  look(view: View) {
    this.view = view;
    this.later(false);
    clearTimeout(this.rest);
    this.rest = setTimeout(() => this.later(true), restAfter) as unknown as number;
  }

  later(fine: boolean) {
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => this.draw(fine));
  }

  draw(fine: boolean) {
    const { canvas } = this;
    const density = devicePixelRatio * (fine && devicePixelRatio < 2 ? 2 : 1);
    const scale = Math.min(density, Math.sqrt(maxPixels / Math.max(1, canvas.clientWidth * canvas.clientHeight)));
    const [width, height] = [canvas.clientWidth, canvas.clientHeight].map((side) => Math.max(1, Math.round(side * scale))) as [number, number];
    if (canvas.width !== width) canvas.width = width;
    if (canvas.height !== height) canvas.height = height;
    this.renderer.draw(this.view, Math.max(2, 2 * scale));
    canvas.dataset.drawn = String(Number(canvas.dataset.drawn ?? 0) + 1);
  }

  /** The picture on the background of the page. */
  save(name: string) {
    this.draw(true);
    const { canvas } = this;
    const copy = document.createElement("canvas");
    [copy.width, copy.height] = [canvas.width, canvas.height];
    const context = copy.getContext("2d")!;
    context.fillStyle = getComputedStyle(canvas).backgroundColor;
    context.fillRect(0, 0, copy.width, copy.height);
    context.drawImage(canvas, 0, 0);
    copy.toBlob((blob) => {
      const link = document.createElement("a");
      link.href = URL.createObjectURL(blob!);
      link.download = `${name}.png`;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
    });
  }

  close() {
    cancelAnimationFrame(this.frame);
    clearTimeout(this.rest);
    this.renderer.close();
  }
}

/** Dragging with one pointer rotates, with a modifier or another button moves, and two pointers
    zoom. */
function drags(canvas: HTMLCanvasElement, change: (by: Change) => void) {
  const at = new Map<number, [number, number]>();
  const distance = () => {
    const [a, b] = [...at.values()];
    return a && b ? Math.hypot(a[0] - b[0], a[1] - b[1]) : 0;
  };
  const down = (e: PointerEvent) => {
    at.set(e.pointerId, [e.clientX, e.clientY]);
    canvas.setPointerCapture(e.pointerId);
  };
  const move = (e: PointerEvent) => {
    const last = at.get(e.pointerId);
    if (!last) return;
    const before = distance();
    at.set(e.pointerId, [e.clientX, e.clientY]);
    const side = Math.min(canvas.clientWidth, canvas.clientHeight) || 1;
    const [right, below] = [(e.clientX - last[0]) / side, (e.clientY - last[1]) / side];
    if (at.size > 1) change((v) => (before ? zoomed(v, distance() / before) : v));
    else if (e.shiftKey || e.buttons > 1) change((v) => moved(v, 2 * right, -2 * below));
    else change((v) => rotated(v, Math.PI * right, Math.PI * below));
  };
  const wheel = (e: WheelEvent) => {
    if (document.activeElement !== canvas) return; // the page scrolls instead
    e.preventDefault();
    change((v) => zoomed(v, Math.exp(-Math.max(-100, Math.min(100, e.deltaY)) / 400)));
  };
  const removed = [
    listen(canvas, "pointerdown", down), listen(canvas, "pointermove", move), listen(canvas, "wheel", wheel, { passive: false }),
    listen(canvas, "pointerup pointercancel", (e: PointerEvent) => at.delete(e.pointerId)), listen(canvas, "contextmenu", (e: Event) => e.preventDefault()),
  ];
  return () => removed.forEach((remove) => remove());
}

interface Props {
  scene: Scene;
  /** The subject of the picture. */
  name: string;
  /** Whether the initial view is from the upper front, as for a surface and a unit cell. */
  slanted: boolean;
  /** Called if the browser cannot draw it, or has stopped. */
  onLost: () => void;
}

export function Stage({ scene, name, slanted, onLost }: Props) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const screen = useRef<Screen | undefined>(undefined);
  const view = useRef<View>(useMemo(() => home(slanted), []));
  const hint = useId();
  const [lost, setLost] = useState(false);
  const look = (by: Change) => screen.current?.look((view.current = by(view.current)));
  useEffect(() => {
    const drawn = canvas.current!;
    try {
      screen.current = new Screen(drawn, view.current);
    } catch {
      return setLost(true);
    }
    const resized = new ResizeObserver(() => screen.current?.later(true));
    resized.observe(drawn);
    // the drawing buffer is not preserved
    const printed = listen(window, "beforeprint", () => screen.current?.draw(true));
    const removed = [drags(drawn, look), printed, listen(drawn, "webglcontextlost", (e: Event) => (e.preventDefault(), setLost(true)))];
    return () => {
      removed.forEach((remove) => remove());
      resized.disconnect();
      screen.current?.close();
      screen.current = undefined;
    };
  }, []);
  useEffect(() => {
    if (!lost) screen.current?.show(scene);
  }, [scene, lost]);
  useEffect(() => void (lost && onLost()), [lost]);
  const key = (e: KeyboardEvent) => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const move = e.shiftKey && moves[e.key];
    const by: Change | undefined = move ? (v) => moved(v, ...move) : e.key === "0" || e.key === "Home" ? () => home(slanted) : changes.find(([, , keys]) => keys.includes(e.key))?.[3];
    if (e.key === "Escape") (e.currentTarget as HTMLElement).blur();
    if (!by) return;
    e.preventDefault();
    look(by);
  };
  return (
    <div class="stage">
      <canvas ref={canvas} class="solid" tabIndex={0} role="application" aria-roledescription="model in three dimensions" aria-label={name} aria-describedby={hint} onKeyDown={key} />
      <div class="preview-tools">
        <span class="zoom" role="group" aria-label="Turn and zoom">
          {changes.map(([label, sign, , by]) => (
            <Button key={label} kind="quiet" aria-label={label} title={label} onClick={() => look(by)}>
              {sign}
            </Button>
          ))}
          <Button kind="quiet" title="Reset the view" onClick={() => look(() => home(slanted))}>
            Reset
          </Button>
          <Button kind="quiet" onClick={() => screen.current?.save(name)}>
            Save as PNG
          </Button>
        </span>
      </div>
      <p class="dim hint" id={hint}>
        Drag it, or use the arrow keys, to rotate it; with Shift to move it. + and − zoom, and so does the wheel after a click on the picture; 0 resets.
      </p>
    </div>
  );
}
