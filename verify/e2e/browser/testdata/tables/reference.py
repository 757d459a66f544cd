"""Prints the results of pyarrow for the files of this folder: names of columns, and the first rows and columns in the format of the pages."""
import datetime, glob, json, math
import numpy, pyarrow as pa, pyarrow.parquet as pq, pyarrow.types as t

ROWS, COLUMNS = 10, 6
PER = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


def fraction(rest, per):
    return "." + str(rest).zfill(len(str(per)) - 1).rstrip("0") if rest else ""


def plain(scalar):
    """None, a boolean, a number, a string, a list or a dict."""
    y = scalar.type
    if not scalar.is_valid:
        return None
    if t.is_dictionary(y):
        return plain(scalar.value)
    if t.is_timestamp(y):
        seconds, rest = divmod(scalar.value, PER[y.unit])
        return (datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=seconds)).isoformat() + fraction(rest, PER[y.unit]) + ("Z" if y.tz else "")
    if t.is_decimal(y):
        return f"{scalar.as_py():f}"
    if t.is_binary(y) or t.is_binary_view(y) or t.is_fixed_size_binary(y):
        b = scalar.as_py()
        text = b.decode(errors="replace")
        if not t.is_fixed_size_binary(y) and text.isprintable() and "\ufffd" not in text:
            return text
        return "0x" + b[:64].hex() + (f"… ({len(b)} bytes)" if len(b) > 64 else "")
    if t.is_float32(y):
        return float(str(numpy.float32(scalar.as_py())))
    if t.is_map(y):
        return {str(plain(k)): plain(v) for k, v in zip(scalar.values.field(0), scalar.values.field(1))}
    if t.is_struct(y):
        return {f.name: plain(scalar[i]) for i, f in enumerate(y)}
    if t.is_nested(y):
        return [plain(v) for v in scalar.values]
    return scalar.as_py()


def script(v):
    """A value that is not nested, in the format of JavaScript."""
    if v is None or isinstance(v, bool):
        return {None: "null", True: "true", False: "false"}[v]
    if isinstance(v, float):
        return str(int(v)) if v.is_integer() and abs(v) < 1e15 else repr(v)
    return str(v)


def nested(v):
    if isinstance(v, dict):
        return "{" + ", ".join(f"{json.dumps(k, ensure_ascii=False)}: {nested(x)}" for k, x in v.items()) + "}"
    if isinstance(v, list):
        return "[" + ", ".join(map(nested, v)) + "]"
    return json.dumps(v, ensure_ascii=False) if isinstance(v, str) else script(v)


def cell(scalar):
    v = plain(scalar)
    return nested(v) if isinstance(v, (dict, list)) else script(v)


def table(name):
    if name.endswith(".parquet"):
        return pq.ParquetFile(name).read()
    if name.endswith(".arrows"):
        return pa.ipc.open_stream(name).read_all()
    return pa.ipc.open_file(name).read_all()


expected = {}
for name in sorted(glob.glob("*.*")):
    if name.endswith((".py", ".md", ".json")) or name.startswith(("broken-", "made-")):
        continue
    found = table(name)
    columns = min(COLUMNS, found.num_columns)
    expected[name] = {
        "rows": found.num_rows,
        "columns": found.column_names[:columns],
        "cells": [[cell(found.column(c)[r]) for c in range(columns)] for r in range(min(ROWS, found.num_rows))],
    }
print(json.dumps(expected, indent=1, ensure_ascii=False))
