// The coordinates of an array dimension, stored in another array.
import { useAnswer } from "./answers";
import type { Decoder } from "./decoder";
import type { Item } from "./messages";
import { named, numbersOf, shownText } from "./values";

/** The maximum number of coordinates. */
const most = 200_000;

export interface Axis {
  /** Its name with its unit. */
  label: string;
  /** The number at an index, and its text; undefined beyond the read range. */
  numbers: ArrayLike<number>;
  text: (index: number) => string | undefined;
  item: Item;
}

/** The array with the coordinates of a dimension. */
export const axisItem = (item: Item, items: Item[], dimension: number): Item | undefined => {
  const id = item.axes?.[dimension];
  const found = id === undefined || id === item.id ? undefined : items.find((i) => i.id === id);
  return found?.shape?.length === 1 && found.shape[0]! > 0 ? found : undefined;
};

/** The coordinates of a dimension; undefined while they load, if it has none, or if stored
    values are shown. */
export function useAxis(decoder: Decoder, item: Item, items: Item[], dimension: number, stored: boolean): Axis | undefined {
  const axis = stored ? undefined : axisItem(item, items, dimension);
  const length = Math.min(axis?.shape?.[0] ?? 0, most);
  const { answer, of } = useAnswer(decoder, "slice", axis && { id: axis.id!, fixed: [0], rows: -1, columns: 0, from: [0, 0], count: [1, length], most: [1, most] });
  if (!axis || !answer || of?.id !== axis.id) return undefined;
  const numbers = numbersOf(answer);
  const text = (index: number) => (index < numbers.length ? shownText(axis, answer, index, false) : undefined);
  return { label: named(axis.name, axis), numbers, text, item: axis };
}

/** Whether coordinates ascend from the bottom to the top of a picture: spatial ones do,
    detector rows do not. */
export function isUpwards({ item, numbers }: Axis): boolean {
  const of = (name: string) => item.attributes?.find(([n]) => n === name)?.[1] ?? "";
  const isPlace = /^y$/i.test(of("axis")) || /latitude|projection_y/.test(of("standard_name")) || /^degrees?_?n(orth)?$/i.test(of("units"));
  return isPlace && numbers.length > 1 && numbers[numbers.length - 1]! > numbers[0]!;
}
