// Sequence data: FASTA, FASTQ, VCF, SAM, BAM, GFF, GTF and BED, also compressed. Files are read
// from the start, small files as a whole.
import type { Content } from "../sight/messages";
import { grouped } from "./lib/cells";
import { Growing } from "./lib/growing";
import { maxBytes, MiB, Refused, serve } from "./lib/serve";
import { Bam } from "./sequences/bam";
import { type Format, textOf } from "./sequences/format";
import { Fasta, Fastq } from "./sequences/letters";
import { Features, Sam, Vcf } from "./sequences/lines";

/** The number of bytes read at first and with each further step. */
const first = 2 * MiB;
const step = 8 * MiB;

/** A line with @ and two letters is a SAM header line. */
const isSam = (start: string) => /^@(HD|SQ|RG|PG|CO)\t/.test(start) || /^[^\t\n@>]+\t\d+\t[^\t\n]+\t\d+\t\d+\t/.test(start);

function formatOf(start: string, name: string): Format {
  const extension = /\.(\w+)(?:\.b?gz)?$/i.exec(name)?.[1]?.toLowerCase() ?? "";
  if (start.startsWith("BAM\x01")) return new Bam();
  if (start.startsWith("##fileformat=VCF")) return new Vcf();
  if (isSam(start)) return new Sam();
  if (start.startsWith("@")) return new Fastq();
  if (/^\s*[>;]/.test(start)) return new Fasta();
  if (start.startsWith("##gff-version") || /^(gff3?|gtf)$/.test(extension)) return new Features("GFF");
  if (extension === "bed") return new Features("BED");
  throw new Refused("It does not begin like FASTA, FASTQ, VCF, SAM, BAM, GFF or BED.");
}

serve(async (input) => {
  const text = new Growing(input);
  await text.more(first);
  while (text.length < 64 && !text.ended) await text.more(step); // blocks of bgzip may be empty
  if (!text.length) throw new Refused("It is empty.");
  const format = formatOf(textOf(text.bytes.subarray(0, Math.min(text.length, 1000))), input.name);
  const scan = () => {
    format.scan(text, text.ended && text.stopped === "");
    if (format instanceof Features) format.check();
  };
  scan();
  // Reads until the first record is complete.
  while (!format.count() && !text.ended && !format.problem) {
    await text.more(step);
    scan();
  }
  const content = (): Content => {
    const complete = text.ended && text.stopped === "" && !format.problem;
    const n = format.count();
    const [which, noun] = n === 1 ? [complete ? "one" : "the first", format.records.slice(0, -1)] : [`${complete ? "" : "the first "}${grouped(n)}`, format.records];
    const records = `${which} ${noun}`;
    const [table, ...others] = format.items();
    table!.about = [records, table!.about].filter(Boolean).join(", ");
    const remarks = [text.stopped, format.problem ?? ""].filter(Boolean).map((n) => `${n[0]!.toUpperCase()}${n.slice(1)}.`);
    const goesOn = format instanceof Fasta && format.unfinished() ? ", the last of which is incomplete" : "";
    const says = `${records} in ${MB(text.read)} of ${MB(input.bytes)}${goesOn}; the file is not counted to its end.`;
    const more = text.ended || format.problem ? {} : { more: { says: `Read so far: ${says}`, automatic: input.bytes <= maxBytes } };
    const about = [format.name, records, ...format.about()].join(" · ");
    const shared = { about, attributes: format.attributes(), remarks, ...more };
    if (!format.letters) return { view: "tree", ...shared, items: [table!, ...others] };
    const quality = format.quality?.();
    return { view: "sequences", ...shared, table: table!, ...(quality && { quality }) };
  };
  return {
    content: content(),
    slice: async (s) => format.slice(s),
    letters: async ({ record, from, count }) => format.letters!(record, from, count),
    more: async () => {
      if (!text.ended && !format.problem) await text.more(step);
      scan();
      return content();
    },
  };
});

const MB = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`;
