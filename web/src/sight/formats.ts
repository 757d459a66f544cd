// The formats that decoders read, by first bytes and extensions. This module is independent of the
// page.

export interface Format {
  /** The name of the decoder: src/decode/<name>.ts. */
  decoder: string;
  /** Such as "a TIFF image". */
  what: string;
  /** Characters at an offset; without them the extension decides, otherwise both must match. */
  magic?: [offset: number, characters: string][];
  /** Further characters that must match: the file has this format although its first bytes can
      match another one. */
  also?: [offset: number, characters: string];
  extensions?: string;
}

const tiff: Format["magic"] = [[0, "II*\0"], [0, "MM\0*"], [0, "II+\0"], [0, "MM\0+"]];

/** The first matching row applies. */
export const formats: Format[] = [
  { decoder: "zip", what: "a ZIP archive or an office document", magic: [[0, "PK\x03\x04"], [0, "PK\x05\x06"]] },
  { decoder: "tar", what: "a tar archive", magic: [[257, "ustar"]] },
  { decoder: "sequences", what: "compressed sequence data", magic: [[0, "\x1f\x8b"]], extensions: "bam fa fasta fna ffn faa frn fas fq fastq vcf sam gff gff3 gtf bed" },
  { decoder: "tar", what: "compressed with gzip", magic: [[0, "\x1f\x8b"]] },
  { decoder: "npy", what: "a NumPy array", magic: [[0, "\x93NUMPY"]] },
  { decoder: "fits", what: "a FITS file", magic: [[0, "SIMPLE  ="]] },
  { decoder: "netcdf", what: "a NetCDF file, classic format", magic: [[0, "CDF\x01"], [0, "CDF\x02"], [0, "CDF\x05"]] },
  { decoder: "hdf5", what: "an HDF5 file (also NetCDF 4 and MATLAB 7.3)", magic: [0, 512, 1024, 2048].map((at) => [at, "\x89HDF\r\n"]) },
  { decoder: "mat", what: "a MATLAB 5 file", magic: [[0, "MATLAB 5.0"]] },
  { decoder: "parquet", what: "a Parquet file", magic: [[0, "PAR1"], [0, "PARE"]] },
  { decoder: "arrow", what: "an Arrow file (also Feather)", magic: [[0, "ARROW1"], [0, "FEA1"]] },
  { decoder: "arrow", what: "a stream of Arrow", magic: [[0, "\xff\xff\xff\xff"]], extensions: "arrow arrows ipc stream feather" },
  { decoder: "arrow", what: "a stream of Arrow", extensions: "arrows" },
  { decoder: "tiff", what: "a DICOM file", magic: tiff, also: [128, "DICM"] },
  { decoder: "tiff", what: "a TIFF image", magic: tiff },
  { decoder: "jcamp", what: "a JCAMP-DX file", magic: ["##TITLE", "##Title", "##JCAMP"].flatMap((start) => [[0, start], [1, start]] as [number, string][]) },
  { decoder: "spc", what: "an SPC file", extensions: "spc" },
  { decoder: "png", what: "a PNG image", magic: [[0, "\x89PNG"]] },
  { decoder: "molecule", what: "a structure of atoms (PDB)", magic: [[0, "HEADER    "]] },
  { decoder: "mesh", what: "a surface (STL, PLY or OBJ)", extensions: "stl ply obj" },
  { decoder: "molecule", what: "a structure of atoms (PDB, CIF, XYZ, MOL or SDF)", extensions: "pdb cif mmcif mcif xyz extxyz mol mdl sdf sd" },
  { decoder: "sequences", what: "a VCF file", magic: [[0, "##fileformat=VCF"]] },
  { decoder: "sequences", what: "a FASTA file", magic: [[0, ">"], [0, ";"]], extensions: "fa fasta fna ffn faa frn fas" },
  { decoder: "sequences", what: "a FASTQ file", magic: [[0, "@"]], extensions: "fq fastq" },
  { decoder: "sequences", what: "a file of SAM, GFF, GTF or BED", extensions: "sam gff gff3 gtf bed" },
];

export const latin = (bytes: Uint8Array) => Array.from(bytes, (b) => String.fromCharCode(b)).join("");

/** The number of bytes that formatOf examines. */
export const headLength = 2100;

const has = ({ extensions }: Format, name: string) => extensions?.split(" ").includes(/\.(\w+?)(?:\.b?gz)?$/i.exec(name)?.[1]?.toLowerCase() ?? "") ?? false;

/** The format of a file: by its first bytes if the format has magic bytes, or else by its
    extension. */
export function formatOf(head: Uint8Array, names: string[]): Format | undefined {
  const text = latin(head.subarray(0, headLength));
  return formats.find((format) => {
    const named = !format.extensions || names.some((name) => has(format, name));
    const begins = ([at, characters]: [number, string]) => text.startsWith(characters, at);
    return named && (!format.magic || format.magic.some(begins)) && (!format.also || begins(format.also));
  });
}

/** The file name that determined the format; the first one if the bytes did. */
export const nameFor = (format: Format, names: string[]): string => names.find((name) => has(format, name)) ?? names.find(Boolean) ?? "";
