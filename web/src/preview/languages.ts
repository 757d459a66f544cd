// Source code languages by extension, by file name, and by the interpreter in the first line. The
// decoder (src/decode/code.ts) uses the same language names. This module is independent of the
// page.

const extensions: Record<string, string> = {
  awk: "awk", bash: "sh bash zsh ksh slurm sbatch pbs qsub", c: "c h", cmake: "cmake", cpp: "cpp cc cxx hpp hh hxx cu cuh ino cl", csharp: "cs",
  css: "css", diff: "diff patch", dockerfile: "dockerfile", fortran: "f for ftn f77 f90 f95 f03 f08", go: "go", groovy: "groovy nf gradle", haskell: "hs",
  ini: "ini toml cfg conf", java: "java", javascript: "js mjs cjs jsx ijm", json: "json geojson jsonld ipynb jsonl ndjson", julia: "jl", kotlin: "kt kts",
  latex: "tex sty bib", lua: "lua", makefile: "mk mak", markdown: "md markdown rmd qmd", matlab: "m", perl: "pl pm", php: "php", powershell: "ps1 psm1",
  protobuf: "proto", python: "py pyi pyx pxd smk", r: "r", ruby: "rb", rust: "rs", scala: "scala", sql: "sql", stan: "stan", stata: "do ado", tcl: "tcl",
  typescript: "ts tsx mts", verilog: "v sv", vhdl: "vhd vhdl", xml: "xml html htm xhtml svg xsd xsl kml gpx", yaml: "yaml yml cff",
};

const wholeNames: Record<string, string> = {
  cmake: "cmakelists.txt", dockerfile: "dockerfile containerfile", groovy: "jenkinsfile", makefile: "makefile gnumakefile", python: "snakefile sconstruct",
  r: ".rprofile", ruby: "rakefile gemfile", bash: ".bashrc .profile .bash_profile",
};

const interpreters: Record<string, string> = {
  bash: "sh bash zsh ksh dash", python: "python python2 python3", r: "rscript", perl: "perl", ruby: "ruby", javascript: "node", julia: "julia", lua: "lua",
  matlab: "octave", awk: "awk gawk", tcl: "tclsh",
};

/** Aliases in Markdown and notebooks, in addition to the decoder's own. */
const otherNames: Record<string, string> = { python: "ipython ipython3 python2 python3 snakemake pycon", matlab: "octave", ini: "conf", xml: "mathml" };

const turned = (table: Record<string, string>) => new Map(Object.entries(table).flatMap(([language, names]) => names.split(" ").map((name) => [name, language])));

const byExtension = turned(extensions);
const byName = turned(wholeNames);
const byInterpreter = turned(interpreters);
const byOtherName = turned(otherNames);

/** All source code extensions, separated by spaces. */
export const sourceExtensions = [...byExtension.keys()].join(" ");

/** The language of a file with these names, or with this first line. */
export function languageOf(names: string[], text = ""): string | undefined {
  for (const name of names.map((n) => n.slice(n.lastIndexOf("/") + 1).toLowerCase())) {
    const found = byName.get(name) ?? byExtension.get(name.slice(name.lastIndexOf(".") + 1));
    if (found && name.includes(".")) return found;
    if (byName.has(name)) return byName.get(name);
  }
  const interpreter = /^#! ?\/(?:\S*\/)?(?:env +(?:-S +)?)?([\w]+)/.exec(text.slice(0, 200))?.[1];
  return interpreter && byInterpreter.get(interpreter.toLowerCase());
}

/** The language of a fenced block or a notebook, such as `{r, echo=FALSE}`; undefined if unknown.
 */
export function namedLanguage(text: string): string | undefined {
  const name = /^\s*\{?\.?([\w+#-]{1,40})/.exec(text)?.[1]?.toLowerCase();
  return name && (byOtherName.get(name) ?? byExtension.get(name) ?? name);
}
