// Who may read a dataspace, in words.
import type { Visibility } from "../api";
import { anonymous } from "../api";

interface Words {
  /** In a form. */
  choice: string;
  /** In a column. */
  short: string;
  /** Behind the name of a dataspace. */
  phrase: string;
  sentence: string;
  /** What is to be known before it is chosen. */
  hint?: string;
}

/** By visibility, from fewest to most readers. */
export const readers: Record<Visibility, Words> = {
  private: { choice: "Members", short: "members", phrase: "members only", sentence: "Only members and sysadmins may read this dataspace." },
  public: {
    choice: "All users",
    short: "all users",
    phrase: "readable by all users",
    sentence: "All users may read this dataspace. Members may do more, according to their roles.",
  },
  open: {
    choice: "Everybody, also without an account",
    short: "everybody",
    phrase: anonymous ? "open to everybody" : "open to everybody once the operator allows it; until then readable by all users",
    sentence: anonymous
      ? "Everybody may read this dataspace, also without an account. Members may do more, according to their roles."
      : "Everybody may read this dataspace once the operator of the service allows reading without an account; until then, all users may. Members may do more, according to their roles.",
    hint: anonymous
      ? "Anybody on the network can read and download everything in it, without an account, and search engines can find it."
      : "Nobody without an account can see it until the operator of the service switches that on (anonymous = on). Then anybody can read and download everything in it.",
  },
};
