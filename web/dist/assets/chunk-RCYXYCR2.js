import{b as r,c as i}from"./chunk-VIV2Z4BV.js";import{b as s,d as o}from"./chunk-REQZAUY2.js";import{F as t}from"./chunk-MYYFVUQX.js";import"./chunk-SQE76S5B.js";var n=`# User guide

## The words

- A **dataspace** belongs to a group or a project. It decides who may read and who may write. **New dataspace** under **Browse** makes
  one; where only sysadmins may do that, it says so.
- A **set** holds what belongs together: one campaign, one sample, one paper. A set is in one dataspace.
- A **file** is in one set. With its record (name, description, format, size, SHA-256) it is called a *resource* by programs.
- Your **role** in a dataspace says what you may do there: a *member* reads, an *editor* also puts in, changes and deletes, an
  *admin* also gives others access. *Sysadmins* look after the whole service.

Every page has an address that you can keep or send to a colleague. Who opens it must sign in and be allowed to see it.

## Find a file

1. Follow **Browse**, open the dataspace, then the set.
2. In a set, type how the name begins into **Name begins with**. All names of the set are searched, not only those on the screen.
   Folders are a part of the name: \`2026/march/\` finds what is in that folder.
3. Or choose the order **newest change first**, with **Changed since … and before** to look at some days only.
4. What somebody deleted appears with **Show: active and deleted**.

From a terminal (see [keys](#keys) for \`$KEY\`; \`SET_ID\` is the last part of the address of the set's page):

\`\`\`sh
curl -H "Authorization: $KEY" "https://data.example.org/v1/sets/SET_ID/resources?namePrefix=2026/march/"
\`\`\`

## Look at it

Open the file. Images, tables, text, notebooks, PDF, audio and video are shown; tables can be plotted. For everything else you see
the first bytes. Next to it are size, type, who changed it and when, and its SHA-256. Nothing is changed by looking.

A PDF is shown without its scripts, forms and links. **Open it in a tab of its own** leads to the viewer of your browser, from where it
can be printed, too.

Sizes are in decimal units: 1 kB is 1,000 bytes, 1 MB is 1,000,000. Point at a size to see the exact number of bytes. Where 1,024 is
meant, the unit is KiB, MiB or GiB.

## Download, and verify what came

- **One file:** open it and press **Download**.
- **Several:** choose them by their boxes in the set, then **Download as zip**. That takes up to 1,000 files.
- **A whole set:** press **Download all** on its page, or fetch it in a terminal. There is no limit to its size.

\`\`\`sh
curl -fOJ -H "Authorization: $KEY" https://data.example.org/v1/sets/SET_ID/archive
\`\`\`

A zip ends with \`SHA256SUMS\` and \`manifest.json\`. To see that every file is what was once put in:

\`\`\`sh
mkdir copy && cd copy
unzip -q ../NAME-OF-THE-SET.zip
sha256sum -c --quiet SHA256SUMS && echo "all files are as they were"
\`\`\`

(macOS has \`shasum -a 256 -c SHA256SUMS\`.) If a download breaks off, \`unzip\` refuses the file: fetch it again.

For one file, compare the digest with the one on its page:

\`\`\`sh
curl -f -o run-1.csv -H "Authorization: $KEY" https://data.example.org/v1/resources/FILE_ID/data
sha256sum run-1.csv
\`\`\`

## Put a folder in

1. Open a set; or a dataspace, and choose or make the set on the way.
2. Drop files or a whole folder anywhere on the page, or press **Upload files** or **Upload a folder**. Names keep the path within
   the folder. What of a drop could not be read is named.
3. Say what happens with names that are there already, then press **Upload**. Before files are replaced, you see which.

You may go on browsing meanwhile, but leave the window open. At the end a report says what was sent, what was there already, and
what failed. **Try those again** sends only what failed. A file counts as sent when it is on stable storage, not before.

If the window was closed all the same, the set shows which large files are not finished and how much of each has come. **Choose the file
again** goes on where it stopped; small files are sent again.

You need the role editor or admin.

## Replace, rename, describe

- **Replace** on the page of a file puts another file in its place, after a question. Address and id stay; the old
  bytes are gone for good.
- **Edit** changes name, description and format. Of a set or dataspace, title and description.
- The short name of a set or dataspace is fixed once it is made; its title is not.
- If somebody else has saved another text for the same field since you opened it, you see both and choose which one stays.

## Delete and restore

**Delete** takes a file, a set with all that is in it, or a dataspace out of sight. Everything deleted is in the **Trash**, where
**Restore** brings it back, for those who could delete it. A set or dataspace comes back with exactly what was deleted along with
it. What is in a deleted set or dataspace comes back after that one: a link leads to it.

The bytes stay until a sysadmin purges old deletions. What is marked *purged* cannot come back.

## Give a colleague access

1. The colleague needs an account. Sysadmins create one under **Users**, with a first key.
2. Open the dataspace, **Members**, **Give access**. You must be its admin.
3. Choose the person and a role: *member* to read, *editor* to put in as well, *admin* to give access as well.

To end it, press **Remove access** next to the person. It takes effect at once. To let everybody with an account read, edit the dataspace
and make it visible to everybody.

## Keys

A key stands for you. Use one for each computer or script, so that you can revoke each alone.

1. Follow your name at the top, then **New key**. Say what it is for, and when it ends.
2. The key is shown once. Copy it to where you keep passwords.
3. **Revoke** a key that is lost or no longer used. It stops working at once.

In a terminal, keep the key out of the history of commands. This asks for it, and shows nothing while you paste it:

\`\`\`sh
read -rs KEY && export KEY
\`\`\`

Never put a key into an address, a script that you share, or a chat. If that happened, revoke it.

## Use it from a terminal

All that these pages do, programs can do too; the [interface reference](/docs/interface) has every request. Who am I?

\`\`\`sh
curl -H "Authorization: $KEY" https://data.example.org/v1/users/me
\`\`\`

What is there for me?

\`\`\`sh
curl -H "Authorization: $KEY" https://data.example.org/v1/dataspaces
\`\`\`

Create a set (\`--json\` needs curl 7.82 or newer), and put a file into it:

\`\`\`sh
curl -H "Authorization: $KEY" --json '{"name": "runs-2026", "title": "Runs of 2026", "dataspaceId": "DATASPACE_ID"}' https://data.example.org/v1/sets
curl -H "Authorization: $KEY" -F setId=SET_ID -F file=@run-1.csv -F description="first run" https://data.example.org/v1/resources
\`\`\`

A whole folder, eight files at a time, names with their paths:

\`\`\`sh
export KEY SET=SET_ID
put() { curl -sS -f -o /dev/null -H "Authorization: $KEY" -F "setId=$SET" -F "file=@\\"$1\\"" --form-string "name=$1" https://data.example.org/v1/resources; }
export -f put
(cd FOLDER && find * -type f -print0 | xargs -0 -P 8 -I{} bash -c 'put "$1"' put {})
\`\`\`

## Use it from Python

With [requests](https://requests.readthedocs.io) (\`pip install requests\`). The key comes from the environment, as \`KEY\`.

\`\`\`python
import os
import requests

BASE = "https://data.example.org/v1"
lab = requests.Session()
lab.headers["Authorization"] = os.environ["KEY"]

def listing(url, **filters):
    """Everything in a listing, page by page."""
    while True:
        answer = lab.get(url, params=filters)
        answer.raise_for_status()
        page = answer.json()
        if page["end"]:
            return
        yield from page["data"]
        url, filters = page["nextPage"], {}

# find and download
for resource in listing(f"{BASE}/sets/SET_ID/resources", namePrefix="2026/"):
    print(resource["name"], resource["bytes"])
    with lab.get(resource["dataUrl"], stream=True) as data, open(resource["filename"], "wb") as file:
        data.raise_for_status()
        for chunk in data.iter_content(1 << 20):
            file.write(chunk)

# put in
with open("run-1.csv", "rb") as file:
    answer = lab.post(f"{BASE}/resources", data={"setId": "SET_ID", "description": "first run"}, files={"file": file})
    answer.raise_for_status()
    print(answer.json()["id"])
\`\`\`

A table goes into pandas without a file between:

\`\`\`python
import io
import pandas

table = pandas.read_csv(io.BytesIO(lab.get(f"{BASE}/resources/FILE_ID/data").content))
\`\`\`

## Use it from R

With the package httr2.

\`\`\`r
library(httr2)
lab <- request("https://data.example.org/v1") |> req_headers(Authorization = Sys.getenv("KEY"))

page <- lab |> req_url_path_append("sets", "SET_ID", "resources") |> req_perform() |> resp_body_json()
for (resource in page$data) cat(resource$name, resource$bytes, "\\n")

lab |> req_url_path_append("resources", "FILE_ID", "data") |> req_perform(path = "run-1.csv")
table <- read.csv("run-1.csv")

lab |> req_url_path_append("resources") |>
  req_body_multipart(setId = "SET_ID", file = curl::form_file("run-1.csv")) |>
  req_perform()
\`\`\`

## Follow what changes

A catalogue or a backup script wants to hear of everything new, changed and deleted, once. Start at the beginning with
\`state=all\`, go from page to page, and keep the last address: asked again later, it brings what has changed since, and only that.

\`\`\`python
import pathlib

kept = pathlib.Path("kept-address.txt")
url = kept.read_text() if kept.exists() else f"{BASE}/resources?state=all"
while True:
    answer = lab.get(url)
    answer.raise_for_status()
    page = answer.json()
    if page["end"]:
        break
    for resource in page["data"]:
        print(resource["state"], resource["id"], resource["name"])
    url = page["nextPage"]
    kept.write_text(url)
\`\`\`

A resource whose state is \`deleted\` is to be removed from your copy. If something comes twice, the later one is newer.

## When something goes wrong

| you see | it means | what to do |
|---|---|---|
| 401, or you have to sign in again | the key or the session has ended | make a new key, or sign in |
| 403 | your role does not allow this | ask an admin of the dataspace |
| 404 | it is not there, or the address is wrong | look for it under **Browse** |
| 409 | the name is taken, or something above it is deleted | the message says which |
| 410 | the file is deleted | restore it from the **Trash** |
| 500 \`data_damaged\` | the disk has damaged this file | upload the same file again, or tell whoever runs the service; there may be a backup |
| 503 | no changes are taken at the moment | reading goes on; tell whoever runs the service |
| 507 | the disk is full; nothing of yours was stored | tell whoever runs the service |

Each answer has a header \`X-Request-Id\`. Quote it when you ask for help: the log of the service has it too.
`;function g(l){let[,...a]=s(i(n)),h=a.flatMap(e=>e.kind==="heading"&&e.level===2?[{id:e.id,label:e.text}]:[]);return t(r,{title:"User guide",lead:"Short recipes, task by task. Every command is filled in for this service.",contents:h,children:t("div",{class:"prose",children:t(o,{of:a})})})}export{g as GuidePage};
