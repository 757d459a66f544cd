"""Prints the results of markdown-it (with its plugins for formulas) and pandas for the files of this folder, as JSON."""
import io
import json
import pathlib
import re

import pandas
from markdown_it import MarkdownIt
from mdit_py_plugins.amsmath import amsmath_plugin
from mdit_py_plugins.dollarmath import dollarmath_plugin

reader = MarkdownIt("commonmark").enable("table").use(dollarmath_plugin, allow_space=False, allow_digits=False, double_inline=True).use(amsmath_plugin)


def formulas(text):
    def count(tokens):
        return sum((t.type.startswith("math") or t.type == "amsmath" or t.type == "fence" and t.info.strip() == "math") + count(t.children or []) for t in tokens)

    return count(reader.parse(text))


def joined(text):
    return "".join(text)


def notebook(book):
    texts, tables = 0, []
    for cell in book["cells"]:
        if cell["cell_type"] == "markdown":
            texts += formulas(re.sub(r"\\{1,2}[()]", "$", joined(cell["source"])))
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            if any(kind in data for kind in ("image/png", "image/jpeg")):
                continue
            if "<table" in joined(data.get("text/html", "")):
                html = joined(data["text/html"])
                for t in pandas.read_html(io.StringIO(html), keep_default_na=False):
                    heads = ["" if str(c).startswith("Unnamed:") else str(c) for c in t.columns]
                    tables.append([heads] + [[str(c) for c in row] for row in t.itertuples(index=False)])
            else:
                texts += formulas(joined(data.get("text/markdown", data.get("text/latex", ""))))
    return {"formulas": texts, "tables": tables}


known = {}
for path in sorted(pathlib.Path(__file__).parent.iterdir()):
    if path.suffix == ".ipynb":
        known[path.name] = notebook(json.loads(path.read_text()))
    elif path.suffix == ".md" and path.name != "README.md":
        known[path.name] = {"formulas": formulas(path.read_text()), "tables": []}
print(json.dumps(known, indent=1, ensure_ascii=False))
