"""Writes testdata/merge.jsonl: metadata, a merge patch, and what json-merge-patch makes of them, one list a line.

    pip install json-merge-patch==0.3.0
    python3 merge.py
"""

import copy
import json
import pathlib
import random

import json_merge_patch

random.seed(1)


def value(depth, nulls):
    kind = random.choice(["null"] * nulls + ["number", "text", "truth", "list", "quantity"] + ["group"] * 4)
    if kind == "null":
        return None
    if kind == "list":
        return [value(depth + 1, 0) for _ in range(random.randrange(3))] if depth < 4 else []
    if kind == "group":
        return group(depth + 1, nulls) if depth < 4 else 1
    return {"number": random.randrange(3), "text": random.choice(["", "K", "2026-01-02"]), "truth": True, "quantity": {"value": 1, "unit": "K"}}[kind]


def group(depth, nulls):
    return {name: value(depth, nulls) for name in random.sample(["a", "b", "c", "value", "unit"], random.randrange(5))}


def metadata(nulls):
    members = {
        "publisher": lambda: random.choice(["P", "Q"]),
        "tags": lambda: random.sample(["x", "y", "z"], random.randrange(3)),
        "creators": lambda: [{"name": name} for name in random.sample(["A", "B"], random.randrange(3))],
        "properties": lambda: group(0, nulls),
    }
    chosen = random.sample(list(members), random.randrange(2, 5))
    return {name: None if nulls and random.randrange(6) == 0 else members[name]() for name in chosen}


lines = []
for _ in range(400):
    before, patch = metadata(0), metadata(3)
    lines.append(json.dumps([before, patch, json_merge_patch.merge(copy.deepcopy(before), copy.deepcopy(patch))]))
(pathlib.Path(__file__).parent / "merge.jsonl").write_text("\n".join(lines) + "\n")
