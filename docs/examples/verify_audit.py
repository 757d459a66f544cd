#!/usr/bin/env python3
"""Verify an export of labshelf's audit log against heads that were noted down before.

    verify_audit.py [--print] EXPORT [HEADS...]

It needs Python 3 and, for the signatures, the command openssl. docs/reference/audit-format.md of labshelf describes the format.
Exit code 0: unchanged; 1: tampered, or no export; 6: a restoration gave entries up, so that a head proves nothing.
"""
import base64, hashlib, json, os, re, subprocess, sys, tempfile

ACTIONS = dict(zip(*[iter("""1 epoch.begin 2 request.refuse 3 audit.erase 10 dataspace.create 11 dataspace.update 12 dataspace.delete
13 dataspace.restore 20 set.create 21 set.update 22 set.delete 23 set.restore 30 resource.create 31 resource.replace 32 resource.edit
33 resource.delete 34 resource.restore 35 resource.purge 36 resource.copy 37 resource.move 40 version.restore 41 version.label 42 version.erase 43 version.purge
50 user.create 51 user.update 52 user.delete 53 user.restore 60 key.create 61 key.revoke 62 key.update 70 session.begin 71 session.end
80 privilege.grant 81 privilege.revoke 90 purge.run
100 webhook.create 101 webhook.update 102 webhook.delete 103 webhook.rotate 104 webhook.pause 105 webhook.resume 106 webhook.skip
110 schema.create 111 schema.update 112 schema.delete 113 schema.restore 120 edit.begin 121 edit.undo
130 link.create 131 link.update 132 link.take 133 link.revoke""".split())] * 2))
FIELDS = [None, "user", "key", "session", "request", "cause", "kind", "object", "dataspace", "set", "subject", "previous",
          "digest", "before", "bytes", "version", "texts", "address", "values"]

def sha(*parts): return hashlib.sha256(b"".join(parts)).digest()
def once(pairs):
    if len(dict(pairs)) != len(pairs): raise ValueError("a member comes twice")
    return dict(pairs)

def unbase(text): return base64.b64decode(text, validate=True)

def leaf_fields(leaf):
    """The fields of a leaf by their names: bytes, and numbers as bytes, too."""
    if leaf[:1] != b"\1" or len(leaf) < 10: raise ValueError("no leaf of a known format")
    fields, at, last = {"action": leaf[1], "stamp": int.from_bytes(leaf[2:10], "big")}, 10, 0
    while at < len(leaf):
        tag, start = leaf[at], at + (3 if leaf[at] == 18 else 2)
        at = start + int.from_bytes(leaf[at + 1:start], "big")
        if not last < tag <= 18 or not start < at <= len(leaf): raise ValueError("field %d of a leaf" % tag)
        fields[FIELDS[tag]], last = leaf[start:at], tag
    return fields

def append(stack, leaf):
    """The stack has the roots of the complete subtrees with their sizes, the greatest first."""
    size, node = 1, sha(b"\0", leaf)
    while stack and stack[-1][0] == size:
        size, node = 2 * size, sha(b"\1", stack.pop()[1], node)
    stack.append((size, node))

def root(stack):
    node = stack[-1][1] if stack else sha()
    for _, left in reversed(stack[:-1]): node = sha(b"\1", left, node)
    return node

def signed(text, signature, public):
    with tempfile.TemporaryDirectory() as folder:
        for name, content in ("key", bytes.fromhex("302a300506032b6570032100") + public), ("text", text), ("signature", signature):
            with open(os.path.join(folder, name), "wb") as file: file.write(content)
        return subprocess.run("openssl pkeyutl -verify -pubin -keyform DER -inkey key -rawin -in text -sigfile signature".split(),
                              cwd=folder, capture_output=True).returncode == 0

def head(note, key):
    """(epoch, size, root) of a signed head."""
    name, _, public = key.split("+", 2)
    public = unbase(public)  # a byte for Ed25519, 1, and 32 bytes
    text, _, signatures = note.partition("\n\n")
    origin, size, tree = text.split("\n")
    repository, _, epoch = origin.rpartition("/")
    own = [unbase(line.split()[2]) for line in signatures.splitlines() if line.startswith("\u2014 %s " % name)]
    own = [s[4:] for s in own if s[:4] == sha(name.encode(), b"\n", public)[:4]]
    if repository != name or not any(signed((text + "\n").encode(), s, public[1:]) for s in own):
        raise ValueError("a head is not signed with the key of the export: " + origin)
    return epoch, int(size), unbase(tree)

def show(number, fields, line):
    kept = {f: v if isinstance(v, int) else v.decode() if f == "values" else int.from_bytes(v, "big") if len(v) <= 8 and f != "session"
            else v.hex() for f, v in fields.items()}
    texts = {b: line[b]["text"] for b in ("texts", "address") if line.get(b)}
    print(json.dumps({"number": number, **kept, "action": ACTIONS.get(str(fields["action"]), "?"), **texts}, ensure_ascii=False))

def verify(export, notes, printing):
    first = json.loads(next(export))
    if first["format"] != "labshelf audit export 1": raise ValueError("not an export of format 1")
    last, old = head(first["head"], first["key"]), [head(note, first["key"]) for note in notes]
    stack, size, stamp, roots, epochs, bare, bad = [], 0, 0, {0: sha()}, [], set(), []
    for line in (json.loads(text, object_pairs_hook=once) for text in export):
        leaf = unbase(line["leaf"])
        fields = leaf_fields(leaf)
        action, values = fields["action"], json.loads(fields.get("values", b"{}"))
        if fields["stamp"] < stamp + (action != 1): bad.append("entry %d: its stamp is not after the one before" % size)
        for refers in "previous", "cause":
            if int.from_bytes(fields.get(refers, b""), "big") >= max(size, 1): bad.append("entry %d: its %s comes later" % (size, refers))
        for beside in "texts", "address":
            sealed, now = fields.get(beside), line.get(beside)
            if now and (len(unbase(now["salt"])) != 16 or sha(unbase(now["salt"]), now["text"].encode()) != sealed): bad.append("entry %d: %s" % (size, beside))
            if sealed and not now: bare.add(size)
        if action == 1:
            if (values["size"], unbase(values["root"])) != (size, root(stack)): bad.append("entry %d: its epoch" % size)
            epochs.append((values["epoch"], size))
        if action == 3:
            bare.discard(int(values["entry"]))
            if int(values["entry"]) >= size: bad.append("entry %d: it erases what comes later" % size)
        if printing: show(size, fields, line)
        append(stack, leaf)
        size, stamp = size + 1, fields["stamp"]
        if any(size == s for _, s, _ in old): roots[size] = root(stack)
    bad += ["entry %d: texts are missing, and no entry says that they were erased" % n for n in sorted(bare)]
    if last[1:] != (size, root(stack)) or not epochs or epochs[0][1] != 0 or epochs[-1][0] != last[0]:
        bad.append("the entries are not those that the head of the export is signed for")
    print("%d entries, root %s" % (size, base64.b64encode(root(stack)).decode()))
    for _, entry in epochs[1:]: print("restored at entry %d" % entry)
    unsure = False
    for epoch, of, tree in old:
        later = [entry for _, entry in epochs[[e for e, _ in epochs].index(epoch) + 1 if epoch in dict(epochs) else 1:]]
        if roots.get(of) == tree: print("head of %d entries: unchanged" % of)
        elif later and later[0] < of:
            unsure = True
            print("head of %d entries: %d to %d were given up by the restoration at entry %d" % (of, later[0], of - 1, later[0]))
        else: bad.append("head of %d entries: %s" % (of, "entries were changed" if of <= size else "%d to %d are missing" % (size, of - 1)))
    for what in bad[:20]: print("TAMPERED:", what)
    return 1 if bad else 6 if unsure else 0

if __name__ == "__main__":
    names = [a for a in sys.argv[1:] if a != "--print"]
    if not names: sys.exit(__doc__)
    noted = re.split("(labshelf/.*\n.*\n.*\n\n(?:\u2014 .*\n)+)", "".join(open(name, encoding="utf-8").read() for name in names[1:]))
    if len(names) > 1 and len(noted) < 2 or "".join(noted[::2]).strip(): sys.exit("not only heads in " + " ".join(names[1:]))
    try:
        sys.exit(verify(open(names[0], encoding="utf-8", newline="\n"), noted[1::2], "--print" in sys.argv))
    except (ValueError, KeyError, StopIteration, TypeError) as err:
        sys.exit("not a sound export: %r" % err)
