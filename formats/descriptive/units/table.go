package units

// A unit is its factor times the expression of, which uses rows above it. If it has an offset, the
// factor is the size of a difference, and the offset is the value of 0 in SI.
type unit struct {
	symbols  string // all with the same meaning, separated by spaces
	factor   float64
	of       string
	prefixes string // separated by spaces
	offset   float64
}

// The prefixes of a unit. Some units have few, so that every symbol has one meaning.
const (
	none   = ""
	si     = "q r y z a f p n µ μ u m c d da h k M G T P E Z Y R Q"
	down   = "n µ μ u m"
	up     = "k M G"
	binary = "k M G T P E Ki Mi Gi Ti Pi Ei"
)

var units = [...]unit{
	{"m", 1, "metre", si, 0},
	{"g", 1e-3, "kilogram", si, 0},
	{"s", 1, "second", si, 0},
	{"A", 1, "ampere", si, 0},
	{"K", 1, "kelvin", si, 0},
	{"mol", 1, "mole", si, 0},
	{"cd", 1, "candela", si, 0},
	{"rad", 1, "radian", si, 0},
	{"bit", 1, "bits", binary, 0},

	{"Hz", 1, "s^-1", si, 0},
	{"Bq", 1, "s^-1", si, 0},
	{"N", 1, "kg m s^-2", si, 0},
	{"Pa", 1, "N/m^2", si, 0},
	{"J", 1, "N m", si, 0},
	{"W", 1, "J/s", si, 0},
	{"C", 1, "A s", si, 0},
	{"V", 1, "W/A", si, 0},
	{"F", 1, "C/V", si, 0},
	{"Ω ohm", 1, "V/A", si, 0},
	{"S", 1, "A/V", si, 0},
	{"Wb", 1, "V s", si, 0},
	{"T", 1, "Wb/m^2", si, 0},
	{"H", 1, "Wb/A", "q r y z a f n µ μ u m c d da h k M G T P E Z Y R Q", 0}, // pH is another unit
	{"sr", 1, "rad^2", si, 0},
	{"lm", 1, "cd sr", si, 0},
	{"lx", 1, "lm/m^2", si, 0},
	{"Gy", 1, "J/kg", si, 0},
	{"Sv", 1, "J/kg", si, 0},
	{"kat", 1, "mol/s", si, 0},

	{"°C ℃ degC", 1, "K", none, 273.15},
	{"°F ℉ degF", 5.0 / 9, "K", none, 459.67 * 5 / 9},

	{"min", 60, "s", none, 0},
	{"h hr", 60, "min", none, 0},
	{"d day", 24, "h", none, 0},
	{"wk", 7, "d", none, 0},
	{"a yr", 365.25, "d", up, 0}, // Julian year
	{"L l", 1, "dm^3", si, 0},
	{"ha", 1, "hm^2", none, 0},
	{"t", 1000, "kg", up, 0},
	{"Da", 1.66053906892e-27, "kg", "m " + up, 0}, // CODATA 2022
	{"u", 1, "Da", none, 0},
	{"eV", 1.602176634e-19, "J", si, 0},
	{"Å", 1e-10, "m", none, 0},
	{"au", 149597870700, "m", none, 0},
	{"pc", 648000 / pi, "au", up, 0},
	{"ly", 299792458, "m a/s", none, 0},
	{"barn", 1e-28, "m^2", si, 0},

	{"bar", 1e5, "Pa", si, 0},
	{"atm", 101325, "Pa", none, 0},
	{"Torr torr", 1.0 / 760, "atm", down, 0},
	{"mmHg", 133.322387415, "Pa", none, 0},
	{"cmH2O", 98.0665, "Pa", none, 0},
	{"psi", 6894.757293168361, "Pa", none, 0},

	{"M", 1, "mol/L", si, 0},
	{"U", 1, "µmol/min", down + " k", 0}, // of enzyme activity
	{"P", 0.1, "Pa s", "c d m", 0},
	{"St", 1e-4, "m^2/s", "c m", 0},
	{"Wh", 1, "W h", si, 0},
	{"Ah", 1, "A h", si, 0},
	{"cal", 4.184, "J", si, 0},
	{"erg", 1e-7, "J", si, 0},
	{"dyn", 1e-5, "N", si, 0},
	{"G", 1e-4, "T", down + " k", 0},
	{"Ci", 3.7e10, "Bq", si, 0},

	{"° deg", pi / 180, "rad", none, 0},
	{"arcmin", 1.0 / 60, "°", none, 0},
	{"arcsec", 1.0 / 60, "arcmin", "m µ μ u", 0},
	{"rpm", 2 * pi / 60, "rad/s", "k", 0},
	{"B", 8, "bit", binary, 0},

	{"%", 1e-2, "1", none, 0},
	{"‰", 1e-3, "1", none, 0},
	{"ppm", 1e-6, "1", none, 0},
	{"ppb", 1e-9, "1", none, 0},

	{"in", 0.0254, "m", none, 0},
	{"ft", 12, "in", none, 0},
	{"mi", 5280, "ft", none, 0},
	{"lb", 0.45359237, "kg", none, 0},
	{"oz", 1.0 / 16, "lb", none, 0},
}

// customary are units of laboratories that neither SI nor other programs have. Each kind of counted
// thing has its own dimension.
var customary = [...]unit{
	{"counts count cts", 1, "counted", "k M", 0},
	{"cps", 1, "counted s^-1", "k M", 0},
	{"cpm", 1, "counted/min", "k M", 0},
	{"px pixel pixels", 1, "pixels_each", "k M G", 0},
	{"dpi", 1, "pixels_each/in", none, 0},
	{"fps", 1, "frames_each/s", none, 0},
	{"frame frames", 1, "frames_each", none, 0},
	{"cell cells CFU cfu", 1, "cells_each", none, 0},
	{"copies copy", 1, "copies_each", none, 0},
	{"reads read", 1, "reads_each", none, 0},
	{"particles particle", 1, "particles_each", none, 0},
	{"bp nt", 1, "base_pairs", none, 0},
	{"kb kbp", 1000, "base_pairs", none, 0},
	{"Mb Mbp", 1e6, "base_pairs", none, 0},
	{"Gb Gbp", 1e9, "base_pairs", none, 0},
	{"IU", 1, "international_units", "m k M", 0},
	{"OD OD600 OD595 OD550 OD450 OD405 OD280 OD260 Abs A600 A280 A260 A230", 1, "absorbance", "m", 0},
	{"AU", 1, "own_units", "m", 0}, // of absorbance, or arbitrary units
	{"a.u. arb.u. RU RFU RLU MFI", 1, "arbitrary_units", none, 0},
	{"dB", 1, "decibel", none, 0},
	{"dBm dBV", 1, "decibel_level", none, 0},
	// pH is a logarithm, so it is not an amount in mol/L. UCUM writes it in brackets.
	{"pH [pH]", 1, "acidity", none, 0},
	{"FTU NTU FNU", 1, "turbidity", none, 0},
	{"PSU psu", 1, "salinity", none, 0},
	{"RCF rcf xg ×g", 9.80665, "m/s^2", none, 0},
	{"RPM", 1, "rpm", none, 0},
	{"sccm", 1, "cm^3/min", none, 0},
	{"slm slpm", 1, "L/min", none, 0},
	{"wt% w% at% mol% vol% v%", 1e-2, "1", none, 0},
	{"sec secs second seconds", 1, "s", none, 0},
	{"mins minute minutes", 60, "s", none, 0},
	{"hrs hour hours", 60, "min", none, 0},
	{"days", 24, "h", none, 0},
	{"week weeks", 7, "d", none, 0},
	{"year years", 365.25, "d", none, 0},
	{"micron microns", 1, "µm", none, 0},
	{"Oe", 1e3 / (4 * pi), "A/m", "k", 0},
	{"mmH2O", 9.80665, "Pa", none, 0},
	{"inHg", 3386.389, "Pa", none, 0},
	{"Gal", 1e-2, "m/s^2", "m µ μ u", 0},
	{"kgf", 9.80665, "N", none, 0},
	{"hp", 745.69987158227022, "W", none, 0},
	{"mil mils", 1e-3, "in", none, 0},
	{"gal", 3.785411784, "L", none, 0},
}

const pi = 3.14159265358979323846264338327950288

var prefixes = map[string]float64{
	"q": 1e-30, "r": 1e-27, "y": 1e-24, "z": 1e-21, "a": 1e-18, "f": 1e-15, "p": 1e-12, "n": 1e-9, "µ": 1e-6, "μ": 1e-6, "u": 1e-6, "m": 1e-3,
	"c": 1e-2, "d": 1e-1, "da": 1e1, "h": 1e2, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18, "Z": 1e21, "Y": 1e24, "R": 1e27,
	"Q": 1e30, "Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30, "Ti": 1 << 40, "Pi": 1 << 50, "Ei": 1 << 60,
}
