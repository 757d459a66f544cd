"""Makes the folder "tree" of the drive equal to a local folder, and downloads it: tree.py URL KEY TREE OUT."""
import os
import sys

from webdav4.client import Client

url, key, tree, out = sys.argv[1:]
drive = Client(url, auth=("anybody", key), timeout=60)


def there(folder):
    """All files and folders below a folder of the drive."""
    files, folders = set(), []
    for entry in drive.ls(folder, detail=True):
        if entry["type"] == "directory":
            more, below = there(entry["name"])
            files |= more
            folders += [entry["name"]] + below
        else:
            files.add(entry["name"])
    return files, folders


if not drive.exists("tree"):
    drive.mkdir("tree")
files, folders = there("tree")
wanted = set()
for at, below, names in os.walk(tree):
    relative = os.path.normpath(os.path.join("tree", os.path.relpath(at, tree)))
    if relative not in folders and relative != "tree":
        drive.mkdir(relative)
    for name in names:
        path = relative + "/" + name
        wanted.add(path)
        drive.upload_file(os.path.join(at, name), path, overwrite=True)
for path in files - wanted:
    drive.remove(path)
files, folders = there("tree")
for folder in ["tree"] + folders:
    os.makedirs(os.path.join(out, os.path.relpath(folder, "tree")), exist_ok=True)
for path in files:
    drive.download_file(path, os.path.join(out, os.path.relpath(path, "tree")))
