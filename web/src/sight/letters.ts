// Groups of sequence letters with a colour. The page also names the groups, so that none depends on
// colour alone.

type Group = [group: string, about: string, letters: string];

const nucleotides: Group[] = [
  ["one", "", "A"], ["two", "", "C"], ["three", "", "G"], ["four", "", "T U"],
];

const aminoAcids: Group[] = [
  ["one", "aliphatic", "AILMV"], ["two", "aromatic", "FWY"], ["three", "basic", "HKR"], ["four", "acidic", "DE"], ["five", "polar", "NQST"], ["six", "special", "CGP"],
];

export const groupsOf = (nucleic: boolean) => (nucleic ? nucleotides : aminoAcids);

const known = [false, true].map((nucleic) => new Map(groupsOf(nucleic).flatMap(([group, , letters]) => Array.from(letters.replaceAll(" ", ""), (letter): [string, string] => [letter, group]))));

export const groupOf = (letter: string, nucleic: boolean) => known[nucleic ? 1 : 0]!.get(letter.toUpperCase()) ?? "other";

/** Qualities of 40 and more have the highest bar. */
export const qualityBar = (quality: number) => "▁▂▃▄▅▆▇█"[Math.max(0, Math.min(7, Math.floor(quality / 5.7)))]!;

export const qualityGroups: Group[] = [["poor", "below 10", "▁▂"], ["low", "below 20", "▃▄"], ["fair", "below 30", "▅▆"], ["good", "30 and more", "▆█"]];

export const qualityGroup = (quality: number) => (quality < 10 ? "poor" : quality < 20 ? "low" : quality < 30 ? "fair" : "good");
