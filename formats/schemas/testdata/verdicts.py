"""Reads pairs of a schema and a value, one a line, and prints a line for each: true or false as the value is valid, or what went wrong."""
import json
import sys

from jsonschema import Draft202012Validator

for line in sys.stdin:
    pair = json.loads(line)
    try:
        validator = Draft202012Validator(pair["schema"], format_checker=Draft202012Validator.FORMAT_CHECKER)
        print(json.dumps(validator.is_valid(pair["value"])))
    except Exception as e:
        print(json.dumps(repr(e)[:200]))
