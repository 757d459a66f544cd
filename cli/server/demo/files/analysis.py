"""Peak positions of a diffraction pattern."""
import csv
import sys


def peaks(path, least=100):
    with open(path) as table:
        rows = [(float(r["two_theta"]), int(r["counts"])) for r in csv.DictReader(table, delimiter="\t")]
    for before, here, after in zip(rows, rows[1:], rows[2:]):
        if here[1] >= least and here[1] > before[1] and here[1] >= after[1]:
            yield here


if __name__ == "__main__":
    for angle, counts in peaks(sys.argv[1]):
        print(f"{angle:8.2f} {counts:8d}")
