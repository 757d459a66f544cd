// Guesses the encoding of a text that is not UTF-8. Encodings in which the bytes are invalid are
// excluded. The most language-like reading of the others wins. This module is independent of the
// page.
import { hangul, kanji, simplified, traditional } from "./common";

/** The number of bytes examined. */
const sampled = 48_000;

/** Scores how much a text reads like a language, from about -1 to 1. */
type Score = (text: string, bytes: Uint8Array) => number;

const setOf = (characters: string) => new Set(characters);
const [isSimplified, isTraditional, isKanji, isHangul] = [simplified, traditional, kanji, hangul].map(setOf) as [Set<string>, Set<string>, Set<string>, Set<string>];

/** Scores two-byte characters: `weigh` returns the weight of one. */
function eastern(weigh: (character: string) => number, trails: boolean): Score {
  return (text, bytes) => {
    let [sum, all] = [0, 0];
    for (const c of text) {
      if (c < "\x80") continue;
      all++;
      // half-width characters: Western letters look like them in Shift-JIS
      if (c >= "\uff61" && c <= "\uff9f") sum -= 0.4;
      else if (c >= "\ue000" && c <= "\uf8ff") sum -= 2;
      else if ((c >= "\u3000" && c <= "\u3002") || (c >= "\uff01" && c <= "\uff5e")) sum += 0.7;
      else sum += weigh(c);
    }
    if (!all) return -1;
    // Western letters before ASCII can look like one two-byte character. Then half of the second
    // bytes are ASCII, never all.
    if (trails && !hasPair(bytes)) return Math.min(sum / all, 0) - 0.5;
    return sum / all - 0.1;
  };
}

const isKana = (c: string) => c >= "\u3041" && c <= "\u30fe";
const isIdeograph = (c: string) => c >= "\u4e00" && c <= "\u9fff";
const isSyllable = (c: string) => c >= "\uac00" && c <= "\ud7a3";

/** Whether two consecutive bytes are not ASCII. */
function hasPair(bytes: Uint8Array): boolean {
  for (let i = 1; i < bytes.length; i++) if (bytes[i]! > 127 && bytes[i - 1]! > 127) return true;
  return false;
}

const ideographs = (common: Set<string>) => (c: string) => (common.has(c) ? 1.3 : isKana(c) ? -0.2 : isIdeograph(c) ? 0.35 : 0);
const japanese = (c: string) => (isKana(c) ? 1.1 : isKanji.has(c) ? 1 : isIdeograph(c) ? 0.25 : 0);
const korean = (c: string) => (isHangul.has(c) ? 1.3 : isSyllable(c) ? 0.6 : isKana(c) || isIdeograph(c) ? -0.4 : 0);

/** The letters of a language by frequency, without ASCII. */
const cyrillic = "оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфъёіїєґђјљњћџў";
const greek = "αοιετσνηυρπκμλςωδγχθφβξζψάέήίόύώϊϋΐΰ";
const western = "éäöüàèßóáçíêñåøúâôæëîïãìòùœûõÿýðþ";
const central = "áéíóöüőűčšžřěůýťďňęąłżśćńźôäßâîăşţđľĺŕ";
const turkish = "ıüşğçöiİâî";
const baltic = "āēīūšžčņļķģėįųąęõäöü";
const hebrew = "יוהלאתמרבשנדםפעקחגטכסזןצךףץ";
const arabic = "اليمنتروبعدهفسقكحجشصطخضذزثظغةىأإءئؤآ";
const thai = "านรกเอมลงสวยตทดคปบหพชผจใไขแธ่้ั็ิีึืุูะำ";

/** Symbols before or after words and numbers. */
const signs = "°µ±²³×·§©®€£«»„“”‘’–—…•½¼\u00a0№¿¡";

/** Scores single-byte encodings: words of one script are likely, with capitals where languages
    use them. */
function letters(frequent: string, script: RegExp, cased = true): Score {
  const rank = new Map(Array.from(frequent, (c, i) => [c, 1 - (0.7 * i) / frequent.length]));
  return (decoded) => {
    const text = decoded.replace(/[µºª]/g, "°"); // signs that are letters in other encodings
    let [sum, all, capitals] = [0, 0, 0];
    const count = (c: string, value: number) => {
      if (c < "\x80") return;
      all++;
      sum += value;
      if (c !== c.toLowerCase()) capitals++;
    };
    for (const [run] of text.matchAll(/[\p{L}\p{M}\u00aa-\u00ba'’]*[^\0-\x7f][^\0-\x7f\p{L}]*[\p{L}\p{M}]*/gu)) {
      const words = run.match(/[\p{L}\p{M}]+/gu) ?? [];
      for (const word of words) {
        const own = Array.from(word).every((c) => script.test(c));
        const lower = word.toLowerCase();
        const usual = word === lower || word.slice(1) === lower.slice(1) || word === word.toUpperCase();
        const foreign = script === latin && word.length > 2 && word.replace(/[\0-\x7f]/g, "").length > 0.6 * word.length;
        for (const c of word) count(c, !own || foreign ? -0.6 : !usual || /[ãõ][a-dfg-mp-rt-z]/.test(word) ? -0.5 : rank.get(c) ?? (rank.has(c.toLowerCase()) ? 0.7 * rank.get(c.toLowerCase())! : -0.2));
      }
      const within = /\p{L}([^\0-\x7f\p{L}\p{M}·’‘–—…\u00a0])\p{L}/u.exec(run)?.[1];
      for (const c of run.replace(/[\p{L}\p{M}]/gu, "")) count(c, /[\x80-\x9f]/.test(c) ? -1.5 : signs.includes(c) && c !== within ? 0.35 : -0.6);
    }
    // caseless letters, in an encoding with case
    const bare = cased && script !== latin && all > 60 && !capitals;
    return all ? sum / all - (bare ? 0.3 : 0) : -1;
  };
}

const latin = /[\p{Script=Latin}\p{M}]/u;

/** Candidates with their scores and the required lead over others. The first of equals wins. */
const candidates: [label: string, score: Score, bias: number][] = [
  ["windows-1252", letters(western, latin), 0.05],
  ["windows-1251", letters(cyrillic, /\p{Script=Cyrillic}/u), 0.04],
  ["koi8-u", letters(cyrillic, /\p{Script=Cyrillic}/u), 0.01],
  ["koi8-r", letters(cyrillic, /\p{Script=Cyrillic}/u), 0.02],
  ["iso-8859-5", letters(cyrillic, /\p{Script=Cyrillic}/u), 0],
  ["ibm866", letters(cyrillic, /\p{Script=Cyrillic}/u), 0],
  ["x-mac-cyrillic", letters(cyrillic, /\p{Script=Cyrillic}/u), 0],
  ["windows-1253", letters(greek, /\p{Script=Greek}/u), 0.02],
  ["iso-8859-7", letters(greek, /\p{Script=Greek}/u), 0],
  ["windows-1250", letters(central, latin), 0.01],
  ["iso-8859-2", letters(central, latin), 0],
  ["windows-1254", letters(turkish, latin), 0],
  ["windows-1257", letters(baltic, latin), 0],
  ["windows-1255", letters(hebrew, /[\p{Script=Hebrew}\p{M}]/u, false), 0],
  ["windows-1256", letters(arabic, /[\p{Script=Arabic}\p{M}]/u, false), 0.01],
  ["iso-8859-6", letters(arabic, /[\p{Script=Arabic}\p{M}]/u, false), 0],
  ["windows-874", letters(thai, /\p{Script=Thai}/u, false), 0],
  ["macintosh", letters(western, latin), 0],
  ["euc-jp", eastern(japanese, false), 0],
  ["shift_jis", eastern(japanese, true), 0],
  ["euc-kr", eastern(korean, true), 0],
  ["gb18030", eastern(ideographs(isSimplified), true), 0],
  ["big5", eastern(ideographs(isTraditional), true), 0],
];

/** The sample: from the line with the first non-ASCII byte. The last character can be
    truncated. */
function sampleOf(bytes: Uint8Array): Uint8Array {
  const first = Math.max(0, bytes.findIndex((b) => b > 127));
  const from = Math.max(0, bytes.lastIndexOf(10, first) + 1, first - 2000);
  return bytes.subarray(from, from + sampled);
}

/** Encodings for which UTF-16 or UTF-32 would produce control characters: zeros are in the same
    places of each unit. */
function wide(bytes: Uint8Array): string | undefined {
  const zeros = [0, 0, 0, 0];
  const head = bytes.subarray(0, Math.min(bytes.length, 4096) & ~3);
  head.forEach((b, i) => b || zeros[i % 4]!++);
  const units = head.length / 4;
  if (units < 1) return undefined;
  const [a, b, c, d] = zeros.map((n) => n / units) as [number, number, number, number];
  if (d === 1 && c > 0.9 && a < 0.5) return "utf-32le";
  if (a === 1 && b > 0.9 && d < 0.5) return "utf-32be";
  if (a + c + b + d === 0) return undefined;
  const label = b + d > a + c ? "utf-16le" : "utf-16be";
  const text = new TextDecoder(label).decode(head);
  // the last character can be truncated
  const controls = /[\0-\x08\x0e-\x1f\x7f-\x9f\ufffd-\uffff\ue000-\uf8ff]/.test(text.slice(0, -1));
  const usual = text.match(/[\t\n\r -~\u3000-\u3002\uff0c]/g)?.length ?? 0;
  // pairs of ASCII characters
  const pairs = text.match(/[\u2020-\u7e7e]/g)?.filter((c) => (c.charCodeAt(0) & 255) >= 0x20 && (c.charCodeAt(0) & 255) < 0x7f).length ?? 0;
  return !controls && usual > 0.05 * text.length && pairs < 0.5 * text.length ? label : undefined;
}

/** The label of the most likely encoding of the first bytes of a file; undefined if they are
    not text. `utf-8` is not a candidate. */
export function detect(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return wide(bytes);
  const sample = sampleOf(bytes);
  // Western letters and signs stand alone
  const few = 0.6 / (1 + sample.reduce((n, b) => n + (b > 127 ? 1 : 0), 0) / 6);
  let [best, most] = [undefined as string | undefined, -Infinity];
  for (const [label, score, bias] of candidates) {
    let text;
    try {
      text = new TextDecoder(label, { fatal: true }).decode(sample, { stream: true });
    } catch {
      continue;
    }
    const found = score(text, sample) + bias + (label === "windows-1252" ? few : 0);
    if (found > most + 1e-9) [best, most] = [label, found];
  }
  return best ?? "windows-1252";
}
