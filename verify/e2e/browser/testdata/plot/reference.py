# Prints the results of NumPy, pandas and SciPy for the tables of this folder. The tests compare the pages with them.
import io, json, re
import numpy as np, pandas as pd
from scipy.optimize import curve_fit
from scipy.stats import linregress


def table(name):
    text = open(name).read()
    if name == "Norris.dat":
        return pd.read_csv(io.StringIO("\n".join(text.split("\n")[60:])), sep=r"\s+", names=["y", "x"])
    if name.endswith(".xvg"):
        return pd.read_csv(io.StringIO(re.sub(r"(?m)^[@#].*\n", "", text)), sep=r"\s+", header=None)
    if name == "iris.csv":
        return pd.read_csv(name)
    return pd.read_csv(name, skipinitialspace=True)


def line(name, x, y, error=None):
    columns = table(name).iloc[:, [c - 1 for c in (x, y, error) if c]].astype(float).dropna()
    px, py = columns.iloc[:, 0].to_numpy(), columns.iloc[:, 1].to_numpy()
    query = f"x={x}&y={y}" + (f"e{error}" if error else "")
    if error:
        sigma = columns.iloc[:, 2].to_numpy()
        (a, b), cov = curve_fit(lambda v, a, b: a + b * v, px, py, p0=[1, 1], sigma=sigma, absolute_sigma=True, xtol=1e-15, ftol=1e-15)
        w = np.diag(1 / sigma**2)
        design = np.column_stack([np.ones_like(px), px])
        cov = np.linalg.inv(design.T @ w @ design)
        exact = cov @ design.T @ w @ py
        assert np.allclose([a, b], exact, rtol=1e-6)
        a, b = exact
        chi2 = float((((py - a - b * px) / sigma) ** 2).sum())
        mean = (py / sigma**2).sum() / (1 / sigma**2).sum()
        r2 = 1 - chi2 / float((((py - mean) / sigma) ** 2).sum())
        values = [b, np.sqrt(cov[1, 1]), a, np.sqrt(cov[0, 0]), r2, chi2]
    else:
        f = linregress(px, py)
        values = [f.slope, f.stderr, f.intercept, f.intercept_stderr, f.rvalue**2]
    return {"file": name, "query": query, "values": [float(v) for v in values], "n": len(px)}


def bins(name, column, how):
    values = table(name).iloc[:, column - 1].to_numpy(dtype=float)
    counts, edges = np.histogram(values[np.isfinite(values)], bins="fd" if how == "auto" else how)
    first = "&names=first" if name == "iris.csv" else ""  # its column names begin with numbers
    return {"file": name, "query": f"y={column}&bins={how}{first}", "counts": counts.tolist(), "edges": edges.tolist()}


found = {
    "lines": [line("Norris.dat", 2, 1), line("nile.csv", 1, 2), line("sunspots.csv", 1, 2), line("iris.csv", 1, 3), line("lambda_37.xvg", 1, 4),
              line("arima111_forecasts.csv", 3, 5, 4)],
    "histograms": [bins("nile.csv", 2, "auto"), bins("sunspots.csv", 2, "auto"), bins("iris.csv", 1, 12), bins("Norris.dat", 1, 7),
                   bins("lambda_37.xvg", 3, "auto"), bins("arima111_forecasts.csv", 2, 40)],
}
print("{\n" + ",\n".join(f' "{k}": [\n' + ",\n".join("  " + json.dumps(one) for one in all) + "\n ]" for k, all in found.items()) + "\n}")
