# Prints the results of jcamp and nmrglue for the spectra of this folder. The tests compare the pages with them.
import json, warnings
import jcamp, nmrglue, numpy as np

warnings.simplefilter("ignore")


def summary(x, y):
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    at = [0, 1, len(x) // 3, len(x) - 1]
    return {"n": len(x), "least": y.min(), "mean": y.mean(), "most": y.max(), "rows": [[i, x[i], y[i]] for i in at]}


found = {}
for name in ["dupdec1.jdx", "blckpac1.jdx", "pktab2.jdx", "o02.jdx", "fixinc4.jdx"]:
    one = jcamp.readfile(name)
    found[name] = [summary(s["x"], s["y"]) for s in one.get("children") or [one]]
dic, data = nmrglue.jcampdx.read("ofid4.jdx")
first, last = (float(dic[k][0].split(",")[0]) for k in ("FIRST", "LAST"))
found["ofid4.jdx"] = [summary(np.linspace(first, last, len(data[0])), data[0])]
print("{\n" + ",\n".join(f' "{k}": [\n' + ",\n".join("  " + json.dumps(one) for one in all) + "\n ]" for k, all in found.items()) + "\n}")
