// Colour maps: equidistant colours with interpolation.
const maps: Record<string, string> = {
  grey: "000000 ffffff",
  viridis: "440154 482878 3e4a89 31688e 26828e 1f9e89 35b779 6dcd59 b4de2c fde725",
  inferno: "000004 1b0c41 4a0c6b 781c6d a52c60 cf4446 ed6925 fb9b06 f7d13d fcffa4",
  "blue to red": "3b4cc0 6788ee 9abbff c9d7f0 edd1c2 f7a889 e26952 b40426",
};

export const colourMaps = Object.keys(maps);

/** 256 colours of a map, each as red, green and blue. */
export function coloursOf(name: string): Uint8Array {
  const stops = (maps[name] ?? maps.grey!).split(" ").map((hex) => [0, 2, 4].map((at) => parseInt(hex.slice(at, at + 2), 16)));
  const colours = new Uint8Array(256 * 3);
  for (let i = 0; i < 256; i++) {
    const at = (i / 255) * (stops.length - 1);
    const from = stops[Math.floor(at)]!;
    const to = stops[Math.ceil(at)]!;
    for (let c = 0; c < 3; c++) colours[3 * i + c] = Math.round(from[c]! + (to[c]! - from[c]!) * (at % 1));
  }
  return colours;
}
