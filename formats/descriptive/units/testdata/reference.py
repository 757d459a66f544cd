"""Writes testdata/pint.tsv: what pint says of each symbol and prefix, and of products of units.

    pip install pint==0.25.3
    go run ./testdata/names | python3 testdata/reference.py

A line has the unit, the dimension and 1 and 100 of it in SI. The unit is one that the package knows; what pint calls it is in the tables
below. The dimension is of pint's base units, where an angle is a radian.
"""

import pathlib
import sys

import pint

ureg = pint.UnitRegistry(non_int_type=float)

# What pint calls by another name, or by one that its prefixes make ambiguous.
names = {
    "m": "meter", "g": "gram", "s": "second", "A": "ampere", "K": "kelvin", "mol": "mole", "cd": "candela", "rad": "radian", "Hz": "hertz",
    "Bq": "becquerel", "N": "newton", "Pa": "pascal", "J": "joule", "W": "watt", "C": "coulomb", "V": "volt", "F": "farad", "Ω": "ohm",
    "S": "siemens", "Wb": "weber", "T": "tesla", "H": "henry", "sr": "steradian", "lm": "lumen", "lx": "lux", "Gy": "gray", "Sv": "sievert",
    "kat": "katal", "°C": "degree_Celsius", "℃": "degree_Celsius", "°F": "degree_Fahrenheit", "℉": "degree_Fahrenheit", "min": "minute",
    "h": "hour", "d": "day", "wk": "week", "a": "year", "yr": "year", "L": "liter", "l": "liter", "ha": "hectare", "t": "metric_ton",
    "Da": "dalton", "u": "unified_atomic_mass_unit", "eV": "electron_volt", "Å": "angstrom", "au": "astronomical_unit", "pc": "parsec",
    "ly": "light_year", "M": "molar", "U": "enzyme_unit", "P": "poise", "St": "stokes", "Wh": "watt_hour", "Ah": "ampere_hour",
    "cal": "calorie", "dyn": "dyne", "G": "gauss", "Ci": "curie", "°": "degree", "arcmin": "arcminute", "arcsec": "arcsecond",
    "%": "percent", "‰": "permille", "in": "inch", "ft": "foot", "mi": "mile", "lb": "pound", "oz": "ounce", "B": "byte", "atm": "atmosphere", "Torr": "torr",
}
same = set("ohm bit degC degF hr day barn bar torr mmHg cmH2O psi erg deg rpm ppm ppb".split())
prefixes = {
    "q": "quecto", "r": "ronto", "y": "yocto", "z": "zepto", "a": "atto", "f": "femto", "p": "pico", "n": "nano", "µ": "micro", "μ": "micro", "u": "micro",
    "m": "milli", "c": "centi", "d": "deci", "da": "deca", "h": "hecto", "k": "kilo", "M": "mega", "G": "giga", "T": "tera", "P": "peta", "E": "exa",
    "Z": "zetta", "Y": "yotta", "R": "ronna", "Q": "quetta", "Ki": "kibi", "Mi": "mebi", "Gi": "gibi", "Ti": "tebi", "Pi": "pebi", "Ei": "exbi",
}
# Constants that pint does not have as a unit.
ureg.define("ppb = 1e-9")

products = {
    "m/s": "meter / second", "m s^-1": "meter / second", "m·s-1": "meter / second", "m s⁻¹": "meter / second", "kg·m^-3": "kilogram / meter**3",
    "kg/m³": "kilogram / meter**3", "mg/mL": "milligram / milliliter", "W/m2": "watt / meter**2", "W m^-2 K^-1": "watt / meter**2 / kelvin",
    "W/(m K)": "watt / (meter * kelvin)", "J/(kg·°C)": "joule / (kilogram * delta_degree_Celsius)", "J/kg/K": "joule / kilogram / kelvin",
    "J/kg K": "joule / kilogram * kelvin", "µg/m^3": "microgram / meter**3", "mol/L": "mole / liter", "mol l-1": "mole / liter",
    "1/cm": "1 / centimeter", "cm⁻¹": "1 / centimeter", "mA/cm²": "milliampere / centimeter**2", "V/m": "volt / meter", "kΩ cm": "kiloohm * centimeter",
    "km/h": "kilometer / hour", "L/min": "liter / minute", "mL.min-1.kg-1": "milliliter / minute / kilogram", "N*m": "newton * meter",
    "m**2/s": "meter**2 / second", "°/s": "degree / second", "°C/min": "delta_degree_Celsius / minute", "°F/h": "delta_degree_Fahrenheit / hour",
    "U/mg": "enzyme_unit / milligram", "kcal/mol": "kilocalorie / mole", "eV/Å": "electron_volt / angstrom", "Pa s": "pascal * second",
    "mPa·s": "millipascal * second", "g/(m2 d)": "gram / (meter**2 * day)", "((m)/(s))^2": "(meter / second)**2", "MB/s": "megabyte / second",
    "lm/W": "lumen / watt", "kg m2 s-2": "kilogram * meter**2 / second**2", "mS/cm": "millisiemens / centimeter", "Å^3": "angstrom**3",
    "nmol/(min mg)": "nanomole / (minute * milligram)", "T/m": "tesla / meter", "rad/s": "radian / second",
    "%/K": "percent / kelvin", "ppm/°C": "ppm / delta_degree_Celsius", "J K-1 mol-1": "joule / kelvin / mole", "kg/(m s)": "kilogram / (meter * second)",
}

order = {"meter": "m", "kilogram": "kg", "second": "s", "ampere": "A", "kelvin": "K", "mole": "mol", "candela": "cd", "radian": "rad", "bit": "bit"}


def dimension(base):
    powers = {unit: power for unit, power in base.unit_items() if unit != "count"}
    assert not set(powers) - set(order), (powers, base)
    text = [symbol + ("" if powers[unit] == 1 else f"^{round(powers[unit])}") for unit, symbol in order.items() if unit in powers]
    assert all(power == round(power) for power in powers.values())
    return " ".join(text) or "1"


def line(unit, text):
    known = ureg.parse_units(text) if text != "1" else ureg.dimensionless
    si = []
    for value in (1, 100):
        quantity = ureg.Quantity(float(value), known)
        if "gauss" in text:  # of the Gaussian system, where it has another dimension
            quantity = quantity.to("tesla", "Gaussian")
        base = quantity.to_base_units()
        si.append(repr(float(base.magnitude)))
    return "\t".join([unit, dimension(base), *si])


def pint_name(symbol):
    if symbol in names:
        return names[symbol]
    if symbol in same:
        return symbol
    for prefix, name in prefixes.items():
        rest = symbol.removeprefix(prefix)
        if rest != symbol and (rest in names or rest in same):
            return name + names.get(rest, rest)
    raise KeyError(symbol)


symbols = sys.stdin.read().split()
here = pathlib.Path(__file__).parent
lines = [line(symbol, pint_name(symbol)) for symbol in symbols] + [line(unit, text) for unit, text in products.items()]
(here / "pint.tsv").write_text("\n".join(lines) + "\n")
