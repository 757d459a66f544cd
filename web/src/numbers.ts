// Parses numbers as people type them. The service parses numbers in CSV by the same rule
// (descriptive/units).

const spaces = " \u00a0\u2007\u2009\u202f";
const whole = new RegExp(`^([-−]?)([0-9]+(?:[.,'’${spaces}][0-9]+)*)([eE][-+−]?[0-9]+)?$`);
const plain = /^(0|[1-9][0-9]*)(?:[.,]([0-9]+))?$/;
const grouped = new RegExp(`^[1-9][0-9]{0,2}(?:([.,'’${spaces}])[0-9]{3})(?:\\1[0-9]{3})*(?:([.,])([0-9]+))?$`);

/** A number in JSON notation, or the reason why a text is not a number. */
export type NumberRead = { number: string; error?: undefined } | { number?: undefined; error: string };

/** The error for a text that is not a number. */
export const notNumber = "This is not a number. Write it as 20, -0.5 or 1e-3.";

const unreadable: NumberRead = { error: notNumber };

const twice = (one: string, other: string): NumberRead => ({ error: `This can be read in two ways. Write ${one}${other && ` or ${other}`}.` });

/** Parses 20, 37,5, −5, 1e-3, 1 234,5 and 1'234. */
export function readNumber(typed: string): NumberRead {
  const [, sign, body = "", power = ""] = whole.exec(typed.trim()) ?? [];
  if (sign === undefined) return unreadable;
  const before = sign && "-";
  const number = (digits: string): NumberRead => {
    const text = before + digits + power.replace("−", "-");
    return Number.isFinite(Number(text)) ? { number: text } : { error: "This number is too large." };
  };
  const [, integer = "", fraction = ""] = plain.exec(body) ?? [];
  if (integer) {
    const doubtful = body.includes(",") && fraction.length === 3 && integer !== "0" && integer.length <= 3 && !power;
    return doubtful ? twice(`${before}${integer}.${fraction}`, before + integer + fraction) : number(body.replace(",", "."));
  }
  const [all, separator = "", decimal, decimals] = grouped.exec(body) ?? [];
  if (all === undefined || decimal === separator) return unreadable;
  const digits = (decimal ? body.slice(0, -decimals!.length - 1) : body).replaceAll(separator, "");
  if (!decimal && "., ".includes(separator)) return twice(before + digits, "");
  return number(decimal ? `${digits}.${decimals}` : digits);
}
