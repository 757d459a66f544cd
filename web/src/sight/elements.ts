// The chemical elements by their atomic numbers. This module is independent of the page.

const symbols =
  "H He Li Be B C N O F Ne Na Mg Al Si P S Cl Ar K Ca Sc Ti V Cr Mn Fe Co Ni Cu Zn Ga Ge As Se Br Kr Rb Sr Y Zr Nb Mo Tc Ru Rh Pd Ag Cd In Sn Sb Te " +
  "I Xe Cs Ba La Ce Pr Nd Pm Sm Eu Gd Tb Dy Ho Er Tm Yb Lu Hf Ta W Re Os Ir Pt Au Hg Tl Pb Bi Po At Rn Fr Ra Ac Th Pa U Np Pu Am Cm Bk Cf Es Fm Md " +
  "No Lr Rf Db Sg Bh Hs Mt Ds Rg Cn Nh Fl Mc Lv Ts Og";

const names =
  "hydrogen helium lithium beryllium boron carbon nitrogen oxygen fluorine neon sodium magnesium aluminium silicon phosphorus sulfur chlorine argon " +
  "potassium calcium scandium titanium vanadium chromium manganese iron cobalt nickel copper zinc gallium germanium arsenic selenium bromine krypton " +
  "rubidium strontium yttrium zirconium niobium molybdenum technetium ruthenium rhodium palladium silver cadmium indium tin antimony tellurium " +
  "iodine xenon caesium barium lanthanum cerium praseodymium neodymium promethium samarium europium gadolinium terbium dysprosium holmium erbium " +
  "thulium ytterbium lutetium hafnium tantalum tungsten rhenium osmium iridium platinum gold mercury thallium lead bismuth polonium astatine radon " +
  "francium radium actinium thorium protactinium uranium neptunium plutonium americium curium berkelium californium einsteinium fermium mendelevium " +
  "nobelium lawrencium rutherfordium dubnium seaborgium bohrium hassium meitnerium darmstadtium roentgenium copernicium nihonium flerovium moscovium " +
  "livermorium tennessine oganesson";

/** Covalent radii in pm (Cordero et al., 2008). */
const covalent =
  "31 28 128 96 84 76 71 66 57 58 166 141 121 111 107 105 102 106 203 176 170 160 153 139 139 132 126 124 132 122 122 120 119 120 120 116 220 195 " +
  "190 175 164 154 147 146 142 139 145 144 142 139 139 138 139 140 244 215 207 204 203 201 199 198 198 196 194 192 192 189 190 187 187 175 170 162 " +
  "151 144 141 136 136 132 145 146 148 140 150 150 260 221 215 206 200 196 190 187 180 169";

/** Van der Waals radii in pm (Bondi; Alvarez); 0: unknown. */
const vanDerWaals =
  "120 140 182 153 192 170 155 152 147 154 227 173 184 210 180 180 175 188 275 231 0 0 0 0 0 0 0 163 140 139 187 211 185 190 185 202 303 249 0 0 0 0 " +
  "0 0 0 163 172 158 193 217 206 206 198 216 343 249 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 175 166 155 196 202 207 197 202 220 348 283 0 0 0 186";

/** The usual colours of elements (Corey, Pauling and Koltun). */
const colours =
  "ffffff d9ffff cc80ff c2ff00 ffb5b5 909090 3050f8 ff0d0d 90e050 b3e3f5 ab5cf2 8aff00 bfa6a6 f0c8a0 ff8000 ffff30 1ff01f 80d1e3 8f40d4 3dff00 " +
  "e6e6e6 bfc2c7 a6a6ab 8a99c7 9c7ac7 e06633 f090a0 50d050 c88033 7d80b0 c28f8f 668f8f bd80e3 ffa100 a62929 5cb8d1 702eb0 00ff00 94ffff 94e0e0 " +
  "73c2c9 54b5b5 3b9e9e 248f8f 0a7d8c 006985 c0c0c0 ffd98f a67573 668080 9e63b5 d47a00 940094 429eb0 57178f 00c900 70d4ff ffffc7 d9ffc7 c7ffc7 " +
  "a3ffc7 8fffc7 61ffc7 45ffc7 30ffc7 1fffc7 00ff9c 00e675 00d452 00bf38 00ab24 4dc2ff 4da6ff 2194d6 267dab 266696 175487 d0d0e0 ffd123 b8b8d0 " +
  "a6544d 575961 9e4fb5 ab5c00 754f45 428296 420066 007d00 70abfa 00baff 00a1ff 008fff 0080ff 006bff 545cf2 785ce3 8a4fe3 a136d4 b31fd4 b31fba " +
  "b30da6 bd0d87 c70066 cc0059 d1004f d90045 e00038 e6002e eb0026";

export interface Element {
  symbol: string;
  name: string;
  /** Radii in Å. */
  covalent: number;
  vanDerWaals: number;
  /** Red, green and blue, in hexadecimal. */
  colour: string;
}

const of = (table: string) => table.split(" ");
const table = of(names).map<Element>((name, i) => ({
  symbol: of(symbols)[i]!,
  name,
  covalent: Number(of(covalent)[i] ?? 160) / 100,
  vanDerWaals: Number(of(vanDerWaals)[i] ?? 0) / 100 || 2,
  colour: of(colours)[i] ?? "eb0026",
}));

/** Elements by atomic number; 0 is an unknown element. */
export const elements: readonly Element[] = [{ symbol: "?", name: "unknown", covalent: 0.77, vanDerWaals: 1.7, colour: "ff1493" }, ...table];

const bySymbol = new Map(elements.map((e, i) => [e.symbol.toUpperCase(), i] as const));
bySymbol.set("D", 1).set("T", 1);

/** The atomic number of a symbol in any case, with an optional charge or number; 0: unknown. */
export function numberOf(symbol: string): number {
  const [letters = ""] = /^[A-Za-z]{1,2}(?![A-Za-z])/.exec(symbol.trim()) ?? [];
  return bySymbol.get(letters.toUpperCase()) ?? 0;
}
