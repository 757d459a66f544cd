// The view of a model: rotation, zoom and offset. Values are immutable.

export interface View {
  /** A rotation matrix, column by column. */
  rotation: Float32Array;
  zoom: number;
  /** In units of the shorter half side of the picture at zoom 1. */
  shift: [right: number, up: number];
}

const identity = () => new Float32Array([1, 0, 0, 0, 1, 0, 0, 0, 1]);

/** The view from the upper front, at which a box shows three sides. */
export function home(slanted: boolean): View {
  const view: View = { rotation: identity(), zoom: 1, shift: [0, 0] };
  return slanted ? rotated(rotated(rotated(view, 0, -Math.PI / 2), -Math.PI / 6, 0), 0, Math.PI / 9) : view;
}

/** Rotates around the vertical and the horizontal axis of the picture, by radians to the right and
    downwards. */
export function rotated(view: View, right: number, down: number): View {
  const [cr, sr, cd, sd] = [Math.cos(right), Math.sin(right), Math.cos(down), Math.sin(down)];
  const rotation = new Float32Array(9);
  for (let column = 0; column < 3; column++) {
    const [x, y, z] = [0, 1, 2].map((row) => view.rotation[3 * column + row]!) as [number, number, number];
    const deeper = -sr * x + cr * z;
    rotation[3 * column] = cr * x + sr * z;
    rotation[3 * column + 1] = cd * y - sd * deeper;
    rotation[3 * column + 2] = sd * y + cd * deeper;
  }
  return { ...view, rotation: straight(rotation) };
}

/** Orthonormalises the columns, because many small rotations accumulate errors. */
function straight(t: Float32Array): Float32Array {
  const dot = (a: number, b: number) => t[a]! * t[b]! + t[a + 1]! * t[b + 1]! + t[a + 2]! * t[b + 2]!;
  const scaled = (a: number, by: number) => [0, 1, 2].forEach((i) => (t[a + i]! *= by));
  scaled(0, 1 / Math.sqrt(dot(0, 0)));
  const along = dot(0, 3);
  [0, 1, 2].forEach((i) => (t[3 + i]! -= along * t[i]!));
  scaled(3, 1 / Math.sqrt(dot(3, 3)));
  [0, 1, 2].forEach((i) => (t[6 + i] = t[(i + 1) % 3]! * t[3 + ((i + 2) % 3)]! - t[(i + 2) % 3]! * t[3 + ((i + 1) % 3)]!));
  return t;
}

export const zoomed = (view: View, by: number): View => ({ ...view, zoom: Math.min(200, Math.max(0.2, view.zoom * by)) });

export const moved = (view: View, right: number, up: number): View => ({ ...view, shift: [view.shift[0] + right, view.shift[1] + up] });
