// Who may read a dataspace, in words.
import type { Visibility } from "../api";

interface Words {
  /** In a form. */
  choice: string;
  /** In a column. */
  short: string;
  /** Behind the name of a dataspace. */
  phrase: string;
  sentence: string;
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
    phrase: "open to everybody",
    sentence: "Everybody may read this dataspace, also without an account. Members may do more, according to their roles.",
  },
};
