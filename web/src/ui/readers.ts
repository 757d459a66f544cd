// The visibility of a dataspace as text.
import type { Visibility } from "../api";
import { anonymous } from "../api";

interface Words {
  /** In a form. */
  choice: string;
  /** In a column. */
  short: string;
  /** After the name of a dataspace. */
  phrase: string;
  sentence: string;
  /** A warning before it is chosen. */
  hint?: string;
}

/** By visibility, from fewest to most readers. */
export const readers: Record<Visibility, Words> = {
  private: { choice: "Members", short: "members", phrase: "members only", sentence: "Only members and sysadmins can read this dataspace." },
  public: {
    choice: "All users",
    short: "all users",
    phrase: "readable by all users",
    sentence: "All users can read this dataspace. Members can do more, according to their roles.",
  },
  open: {
    choice: "Everyone, even without an account",
    short: "everybody",
    phrase: anonymous ? "open to everybody" : "open to everybody once the operator allows it; until then readable by all users",
    sentence: anonymous
      ? "Everyone can read this dataspace, even without an account. Members can do more, according to their roles."
      : "All users can read this dataspace. Once the operator allows reading without an account, everyone can. Members can do more, according to their roles.",
    hint: anonymous
      ? "Anyone on the network can read and download everything in it without an account, and search engines can find it."
      : "It is visible only with an account until the operator allows reading without one (anonymous = on). Then anyone can read and download everything in it.",
  },
};
