import{a as s,c as o,e as r,f as i}from"./chunk-LZ43XMOE.js";import{h as a}from"./chunk-RF56VMDI.js";import"./chunk-JTT7DALN.js";import"./chunk-R2ICTEW5.js";import{q as e}from"./chunk-RFDB6L6O.js";import"./chunk-OOJM4CTU.js";var n=`# User guide

## Terms

- A **dataspace** belongs to a group or a project. Its members and their roles control access. **New dataspace** under **Browse** creates
  one; some services allow that to sysadmins only.
- A **set** contains files that belong together: one campaign, one sample, one paper. A set is in one dataspace.
- A **file** is in one set. With its record (name, description, format, size, SHA-256) programs call it a *resource*.
- Your **role** in a dataspace decides what you may do there: a *member* reads, an *editor* also uploads, changes and deletes, an
  *admin* also manages the members. *Sysadmins* administer the whole service.

Every page has an address that you can store or send to a colleague, who needs an account and permission to see it.

## Search

The field at the top of every page searches dataspaces, sets and files that you may read; the key \`/\` goes there. Words are found in names,
titles, descriptions, tags, properties, creators and the text of files, and the beginning of a word is enough.

| type | to find |
|---|---|
| \`ice core\` | what has both words |
| \`"ice core"\` | the words next to each other |
| \`temp -raw\` | words that begin with *temp*, without what has the word *raw* |
| \`tag:ice\`, \`creator:curie\` | what has a tag, or a creator |
| \`type:csv\`, \`type:set\` | files of a format or type; only sets |
| \`in:physics\`, \`in:physics/raw\` | what is in a dataspace, or in a set, by their short names |
| \`by:ada size:>1GB modified:2026-01..\` | large files that Ada uploaded, changed since January |
| \`temperature:>20C\`, \`operator:ada\` | properties; quantities are compared in whatever unit they are |
| \`is:incomplete\` | what lacks something that its [form](#forms) asks for |

All conditions must hold. The counts next to the hits narrow them down: a click adds a condition, another one removes it. The address of the page is
the search: keep a search as a bookmark, or send its address to colleagues, who find what they may read.

What was changed is found a second later, the text of a large file within a minute. After an upgrade the search may say that it is catching up: until
then it does not find everything.

## Find a file

1. **Browse** begins with what was changed last, and the sets in which you work. Otherwise open the dataspace, then the set.
2. In a set, type the beginning of the name into **Name begins with**. All names of the set are searched, not only those on the screen.
   Folders are a part of the name: \`2026/march/\` finds the files of that folder.
3. A list of more than one page has **Go to** above it: type the beginning of a name, or by time a day, and press Enter; the arrows beside it go to the beginning and the end.
4. Or select the order **newest change first**; **Changed since … and before** limits the list to some days.
5. **Show: active and deleted** also lists deleted files.

From a terminal (see [keys](#keys) for \`$KEY\`; \`SET_ID\` is the last part of the address of the set's page):

\`\`\`sh
curl -H "Authorization: $KEY" "https://data.example.org/v1/sets/SET_ID/resources?namePrefix=2026/march/"
\`\`\`

Without a mouse: \`j\` and \`k\` go through a list, \`x\` selects, Enter opens, Del deletes what is selected, \`e\` edits what the page is about, \`/\` goes to the search. \`?\` shows the
keys of a page, and switches single keys off.

## Preview a file

Open the file. Images, tables, text, notebooks, PDF, audio and video have previews; tables can be plotted. Archives (ZIP, tar) show their files,
each of which opens like any other; HDF5, NetCDF, FITS, NumPy and MATLAB files show their groups and arrays, Parquet and Arrow files their schema and rows, and slices of these as picture, line or
table; FASTA and FASTQ files show their sequences and qualities, VCF, SAM, BAM, GFF and BED files their headers and records (of a large file the first
ones: **Read more** reads on); TIFF has contrast, colour maps and a scale, and a large slide is shown by its smaller copies until you zoom in. The address says which slice is shown. Other files show
their first bytes. Next to the preview are size, type, the last change and its author; the SHA-256 and the id are under **For programs**. What is done
less often is in the menu **⋯** beside the title.

**Arrays** of NetCDF, HDF5, FITS and GeoTIFF show what their numbers mean: scaled, with missing values left out, with units, dates and coordinates. **As stored** shows the
numbers in the file. A NeXus file opens the data that it names. The contrast of a picture leaves out the lowest and highest 0.5 % of the values; **Contrast** has the whole
range. **CSV** saves a line or the shown part of a table.

**Texts** name their encoding. If characters look wrong, choose another one under **Encoding** (in tables under **Import options**). If a viewer cannot show a file, choose
**Text** or **Bytes**. SVG is shown as a picture; **Source** shows its text.

**Plot a table**: open it, and press **Plot**. Tick the columns for Y and choose the one for X; **Errors and axes** has error bars and a second axis, **Fit line** a straight line
by least squares (weighted where an error column is chosen), **Histogram** counts values in bins. **Add a file …** draws columns of other tables of the set in the same
plot; or select the files in the list and press **Plot together**. Drag across the plot to zoom. The address of the page has all of this: send it to a colleague, who sees the same plot.
It is saved as PNG, as SVG for documents, and as CSV of what is in view. Tables larger than 64 MB are read once as a whole, when you ask for it: the plot shows the minimum
and maximum of each of 2,000 parts, so that no peak is lost, and reads a part again when you zoom in. Fits are of all rows; histograms of what is loaded.

Spectra in JCAMP-DX and SPC are such plots, too, with the axis to the left where the field has it so.

Source code is coloured by its language. A click on the number of a line makes it the address of the page, and a click with Shift a range, such as \`#L12-L20\`;
**Go to line** does the same with the keyboard. Such an address opens the file there.

Surfaces (STL, PLY, OBJ) and structures of atoms (PDB, mmCIF, CIF, XYZ, MOL, SDF) are shown in three dimensions. Drag the picture to rotate it, or click on it and use the
arrow keys; with Shift they move it, \`+\`, \`−\` and the wheel zoom, \`0\` puts it back, and the buttons below do the same. Proteins can be shown by their backbones, crystals
by their whole cell; a slider goes through models, steps or molecules. Below are the legend of the colours and what is known: atoms, residues, chains, formula, cell; or
triangles, extent, area, and the volume of what is closed. **Atoms** is a table of them, **Text** the file itself. Bonds are those of a MOL or SDF file; in other files atoms are
bonded that are as close as their radii allow. The address says what is shown, but not from which side.
Markdown and notebooks show formulas (\`$…$\`, \`$$…$$\`, \`\\(…\\)\`, \`\\[…\\]\`, and blocks of code in the language \`math\`), the pictures of their set (\`![](figures/a.png)\`, from where the
document is), and links to other files of it. Pictures from elsewhere are links, so that nobody learns who reads a document. In notebooks tables of pandas are tables; long outputs are folded.

A PDF is shown without its scripts, forms and links. **Open in a new tab** opens it in the viewer of your browser, which can also
print it.

Sizes are in decimal units: 1 kB is 1,000 bytes, 1 MB is 1,000,000. Point at a size to see the exact number of bytes. Multiples of
1,024 have the units KiB, MiB and GiB.

## Download and verify

- **One file:** open it and press **Download**.
- **Several files:** select them in the set, then press **Download as zip**. That takes up to 1,000 files.
- **A whole set:** choose **⋯**, **Download all** on its page, or download it in a terminal. Its size is not limited.

\`\`\`sh
curl -fOJ -H "Authorization: $KEY" https://data.example.org/v1/sets/SET_ID/archive
\`\`\`

A zip ends with \`SHA256SUMS\` and \`manifest.json\`. To verify that every file is unchanged since its upload:

\`\`\`sh
mkdir copy && cd copy
unzip -q ../NAME-OF-THE-SET.zip
sha256sum -c --quiet SHA256SUMS && echo "all files are unchanged"
\`\`\`

(macOS has \`shasum -a 256 -c SHA256SUMS\`.) If a download is interrupted, \`unzip\` refuses the file: download it again.

For one file, compare its digest with the one on its page:

\`\`\`sh
curl -f -o run-1.csv -H "Authorization: $KEY" https://data.example.org/v1/resources/FILE_ID/data
sha256sum run-1.csv
\`\`\`

## Work with folders

Names with \`/\` are folders. The page of a set shows them as a tree, each with an address of its own; **All files** shows one list instead, and this browser
keeps the choice. In an open folder:

- **Download folder** is a zip of it. Files that you drop go into it.
- **New folder** makes one without files.
- In the list, F2 renames the file or folder that has the focus, as the pencil beside a name does; rows are dragged onto folders and breadcrumbs. **Undo** takes it back.
- **⋯**, **Rename, move, copy** asks for the path from the set down, such as \`raw/2026\`. **Undo** takes it back.
- **Delete folder** puts its files into the trash; **Undo** in the message brings them back.
- **Changed** at the top of the list sorts the files of the folder by time, if there are no more than 2,000; of the whole set it lists all files by time.
- While somebody copies, moves or deletes a folder, others who try the same are asked to wait.

A folder with more than 10,000 files is counted in part: "10,000+ files".

Pictures of up to 4 MB are shown small in the list, other files have a symbol of their kind. **Columns** chooses what the list shows of each file, and how high its rows are; this browser keeps that.

**Many files:** select them one by one, with Shift a range, or by the box at the top all that the filters show, also what is not loaded, up to 100,000. What is selected stays so when the list
changes. **Delete** and **Move or copy …** show how far they have come, and **Cancel** stops them between two steps of 200 files; **Undo** brings back what was done. In the list of
deleted files, **Restore** brings back those that you select.

## Upload a folder

1. Open a set, or a dataspace: there you select or create the set in step 3.
2. Drop files or a whole folder anywhere on the page, or press **Upload files** or **Upload a folder**. Names contain the path within
   the folder. Files that cannot be read are listed.
3. Select what happens if a name exists, then press **Upload**. Before files are replaced, they are listed for confirmation.

You can visit other pages during the upload, but leave the window open. A report lists which files were sent, which already existed, and
which failed. **Retry failed** sends only these. A file counts as sent only when it is on stable storage.

If the window was closed, the set lists the unfinished uploads of large files with their progress. **Select the file again**
resumes an upload; small files are sent again.

You need the role editor or admin.

Files or a picture that were copied are uploaded with Ctrl V, on the page of a set.

## Replace, rename, describe

- **⋯**, **Replace** on the page of a file replaces its content, after confirmation. Address and id stay, and what was replaced becomes an
  older [version](#versions).
- **⋯**, **Edit** changes name, description and format. Of a set or dataspace, title and description.
- The short name of a set or dataspace cannot be changed; its title can.
- If the same field was changed since you opened the form, you see both values and select which one to keep.

## Move or copy

**⋯**, **Move or copy …** on the page of a file, or for the selected files of a set, puts them into another set, also of another dataspace in which you are an
editor. The bytes stay where they are, so a large file takes no longer than a small one.

- A file that is **moved** keeps its versions, tags and properties. It has a new address in the other set; the old one says where it is. **Undo** in the notice
  moves it back, with its old address, and so does moving it back later. Restoring the old record instead makes a second file.
- A **copy** is a new file with the current version. You need to be able to read where the file is.
- Within its set a moved file only gets another name. Names may repeat: nothing is replaced.

## Describe

Tags and properties say what a file, a set or a dataspace is about, so that people and programs find it. **Describe** (later **Edit metadata**) on its page opens
the form; files and sets need the role editor, a dataspace admin.

- A **tag** is a word or a few: type it and press Enter.
- A **property** has a name, a value and, if it is a number, a unit: *temperature*, 20, °C. Numbers, dates such as 2026-01-31, and yes or no are
  recognised; select another kind if that is wrong. A list is written as \`["a", 1]\`, a group as \`{"id": "S1"}\`.

Replacing a file keeps its tags and properties. The [history](#history) shows each change of them.

## Forms

A form asks everybody for the same of each file or set, such as sample, instrument and temperature. Programs call it a *schema*. Forms are listed in
**Forms** on the page of a dataspace; its admins make them.

**To make one,** press **New form**, give it a title, and select which files it is for, or sets. Then add fields: type a label, select the kind, and press Enter
for the next one. **Required** fields have to be filled in; **Several** makes a list of a field; a **Group of fields** with *Several* can be repeated, such
as the steps of a preparation. A **Number with a unit** has the units that you allow. **More** has the help that stands below a field, and its name for programs.
The preview beside the fields is the form as people see it. Move a field with its arrows, or with Alt and an arrow key.

- **Remind:** everything is saved; what is missing is shown, and the file is marked as incomplete.
- **Insist:** changes are refused until all is right. Files always arrive: a new one is incomplete until somebody fills in the form.

Saving a changed form makes a new version. What was filled in before keeps its version, until somebody opens it and takes the new one. **For programs** has the
form as [JSON Schema](https://json-schema.org), which can be edited there; what the fields cannot show is kept.

**To fill one in,** press **Fill in the form** on the page of a file or a set. The file is shown beside the form. **Save and next** (Ctrl+Enter) goes on to the
next incomplete file of the set, and **The rest as in …** fills what is still empty with what you saved last. The page of the set says how many files are
incomplete, and **Describe them one by one** begins with the first; the search \`is:incomplete in:dataspace/set\` lists them.

## Describe many files

- **Selected files:** select them in the list of the set, with Shift a range and by the box at the top all of the list, then **Describe …**. Add and remove
  tags, and set fields of the form or other properties. You see what would change in which file before you agree.
- **As a table:** **Metadata table** on the page of the set downloads the metadata of all files as CSV, one row a file. Edit it in a spreadsheet, and upload it on the
  same page. It shows what would change, cell by cell, and what is wrong in which row, and changes nothing before you press the button. Files that others
  have changed since the download are not overwritten. A set of more than 20,000 files is too large for one table.

  | column | what it holds |
  |---|---|
  | \`id\`, \`etag\` | which file it is, and in which state: leave them as they are |
  | \`name\` | to read only |
  | \`tags\` | separated by commas |
  | \`properties.operator\` | the property *operator*; a new property is a new column. An empty cell removes it |

  Write \`20 °C\` for a number with its unit, \`2026-01-31\` for a date, \`'007\` for a text that looks like a number.
- **Undo:** a notice offers it for a minute; later, the page **Metadata table** lists the last edits of many files with a button for each. An undo restores what nobody has
  changed since, and names the files that stay. It can be undone, too.

## Properties from instruments

**⋯**, **Edit** on the page of a set has **Fill in properties from**: *a JSON file beside the file* (\`run-1.tif.json\` beside \`run-1.tif\`), and *the file’s
own header* (CSV, TIFF, EXIF and others). Both are off until somebody switches them on; then the files that are there are looked at, too. Properties that were filled in so say where they came from. What a person has
written is never overwritten; the JSON file counts more than a header.

## Prepare a publication

**Describe** on the page of a set has what a publication needs. The page lists what is missing; each word leads to its field.

| field | what to write |
|---|---|
| creators | who made the data, in the order of the authors. **Add yourself** begins with you; an [ORCID iD](https://orcid.org) tells people of the same name apart |
| publisher | who keeps the data available, mostly your university or institute |
| year of publication | when it is published, or will be |
| type | mostly *dataset* |
| licence | what others may do; *CC-BY-4.0* lets them do everything that names you |
| keywords, related works, dates, funding, places | what helps others to find and to understand the data |

What the dataspace says already, such as its publisher, is taken over with one button.

## Versions

Each replacement of a file makes a new version, and keeps the ones before. The page of the file lists them, the newest first, with who
saved each, and when. You need the role editor or admin to restore and to label.

- **The wrong file was uploaded:** press **Restore** next to the version that you want. It becomes the newest version, with its name and
  description. To undo that, restore the version before.
- **Look at an older version:** follow **Version …**. Its address shows and downloads the same file for ever.
- **What has changed?** **Compare** shows an older version beside the current one. On the page of a version, enter the number of any other
  one. Text and tables of up to 4 MB are compared line by line.
- **Label** a version that must stay, such as *as published*.

From a terminal:

\`\`\`sh
curl -H "Authorization: $KEY" https://data.example.org/v1/resources/FILE_ID/versions
curl -f -o run-1.csv -H "Authorization: $KEY" https://data.example.org/v1/resources/FILE_ID/versions/3/data
curl -f -X POST -H "Authorization: $KEY" https://data.example.org/v1/resources/FILE_ID/versions/3/restore
\`\`\`

All versions are kept, unless an admin of the dataspace limits them: **Edit**, **Versions kept**. A purge then removes the files of the
others; versions with a label stay. The list goes on to show a removed version, and its page says when it was removed, and by which rule.
**Usage** shows what old versions take, and how much of a quota is used: all versions count, and deleted files until they are purged. Sysadmins can **Erase** the file of one version at once, for example if it contains personal data.

## History

**⋯**, **History** on the page of a file, a set or a dataspace lists who did what to it, and when, the newest first: uploads, replacements,
changed names and descriptions (before → now), deletions, roles. Everybody who may read the object may read its history. The number
of a version leads to its page.

The **Audit log** has the same for everything. Sysadmins find it in the menu, with sign-ins, keys and refused requests; admins find
on the history of their dataspace a link to it, and see what is about their dataspaces. It is filtered by user, kind of action,
time, and the id of an object, and names the request and the address that it came from.

- **Signed head** shows the size of the log and a hash of all its entries, signed. Note it down elsewhere, such as in a mail to a
  colleague: who has an old head can find out whether an entry was changed since. A head that is kept in the service itself proves
  nothing.
- **Export** downloads the whole log with its head, to be verified elsewhere, by \`labshelf audit verify\` or by a small program of your own.
- **Erase texts** removes the names, texts and the address of an entry, if they should not have been kept. The entry stays, says so,
  and the log still verifies.

## Webhooks

A webhook sends a message to a URL of yours for each change, such as to start a pipeline when a file arrives. Sysadmins find
**Webhooks** in the menu, admins on the history of their dataspace. **New webhook** asks for the URL, for a dataspace, and for the
kinds of changes, such as \`resource.*\`; it shows the secret that signs the messages once. The operator of the service decides
which hosts may be called.

The list tells what waits, when it is tried next, and why a webhook is paused. **Resume** goes on where it stopped; **Skip** passes over
the message that fails, or everything up to now. **Deliveries** has the last 200 messages with the answers of the receiver;
**Repeat** sends one again.

## Mount it

All that you may read is also a network drive, at \`https://data.example.org/dav/\`: dataspaces, their sets, and the folders in the names of files. Open and save files there with any program; each
save is a new version. The username does not matter; the password is a [key](#keys). Make one for each computer. Over plain http only programs on the machine of the service
itself may use it.

**Windows.** Explorer: **This PC**, **Map network drive**, \`https://data.example.org/dav/\`, **Connect using different credentials**. Its limits are those of Windows: files up to 50 MB unless
\`FileSizeLimitInBytes\` in the registry says more (4 GB at most), no upload is resumed, and names with \`: * ? " < > |\` cannot be opened. For more, use WinSCP (protocol WebDAV, encryption TLS) or
[rclone](https://rclone.org) with WinFsp: \`rclone mount lab: X: --vfs-cache-mode writes\`.

**macOS.** Finder: **Go**, **Connect to Server**, \`https://data.example.org/dav/\`. Finder fetches a file whole before it opens it.

**GNOME.** Files: **Other Locations**, then \`davs://data.example.org/dav/\` under **Connect to Server**. In KDE it is \`webdavs://\`.

**Linux, mounted for all programs.** With davfs2, as root:

\`\`\`sh
mount -t davfs https://data.example.org/dav/ /mnt/lab -o uid=$USER
\`\`\`

On Linux 6.16 and newer davfs2 1.6 needs the line \`buf_size 256\` in \`/etc/davfs2/davfs2.conf\`, or folders cannot be listed.

**rclone**, on any system, asks for the key and then copies, synchronises and mounts:

\`\`\`sh
rclone config create lab webdav url=https://data.example.org/dav vendor=owncloud user=me
rclone config password lab pass
rclone copy measurements lab:DATASPACE/SET/measurements
rclone mount lab: ~/lab --vfs-cache-mode writes
\`\`\`

With \`vendor=owncloud\` rclone compares modification times and checksums: \`rclone sync\` and \`rclone bisync\` send what has changed and nothing else, and \`rclone check\` finds files that differ. A remote that was
made with \`vendor=other\` compares sizes alone and misses edits that keep the size; change it by \`rclone config update lab vendor owncloud\`.

A program that ended badly can leave a file locked for up to an hour. \`labshelf unlock SET:NAME\` ends the lock; an admin of the dataspace ends those of others.

Programs that save by putting a new file in the place of the old one (Word on a mounted drive) make a new file with another id; the old one is in the **Trash**. What is deleted on the drive is
there, too. Files of the same name are told apart by \`(ID)\`.

## Delete and restore

**⋯**, **Delete** moves a file, a set with its content, or a dataspace to the **Trash**. **Restore** needs the same permission as
**Delete**. A set or dataspace is restored with exactly what was deleted with it. Files in a deleted set or dataspace
can be restored only after the set or dataspace: a link leads to it.

The bytes stay until a sysadmin purges old deletions. *Purged* files cannot be restored, nor any of their versions.

## Give a colleague access

1. The colleague needs an account. Sysadmins create one under **Users**, with a first key, or invite the colleague there.
2. Open the dataspace, **Share**, **Members**, **Give access**. You must be its admin.
3. Select the user and a role: *member* to read, *editor* to upload as well, *admin* to manage the members as well.

**Invite …** there, and under **Share**, is for a colleague who has no account yet, if you are a sysadmin, or the operator lets admins invite: it makes a link for one person. Copy its
address, write a mail, or let a phone read the QR code. Whoever opens it chooses a username, gets the key, which is shown this once, and is in, with the role that you have selected. A colleague who
is signed in gets the role with one press. The link works once, for 7 days if you name no other day; **Links** shows whether it was accepted, and revokes it.
A link that you make in a browser on the server itself may contain \`127.0.0.1\`, which works nowhere else: the page warns you. Open the pages under their name and make the link there.

**Remove access** next to a member takes effect at once. To let all users read, edit the dataspace and select **Readable by: All users**; **Everybody** lets
people read who have no account, where the operator of the service allows that: then anybody can read and download everything in the dataspace, and search engines find it.

## Share with people who have no account

**Share**, then **Make a link …**, on the page of a set or a file, and **Share …** for selected files, makes a *link*: an address that anybody can open who has it. You must be an editor.

- **Show files:** visitors see the set, one folder of it or the files that you selected, and download single files or all as zip. A link to a set or a folder shows what
  is in it at that moment; a link to files always has their newest versions.
- **Ask for files:** visitors send files into the set and see nothing else. Their files come into a folder with the label of the link and the date. They may
  send hundreds at once, or a folder; after a break it goes on by itself. An instrument can send some, too: the page of the link shows how.

Say when the link ends and, if you like, a password, how many downloads or files it is good for, and how large files may be. The address is shown once: copy it, write a
mail, or let a phone read the QR code. Who gets the address can pass it on.

**Links** at the top lists yours, and those of dataspaces that you are an admin of, with their use. **Change** sets another end or password, **Revoke** ends a link at once.
A link can do no more than its owner: it does not work while its owner lacks the role. An admin can **Take over** the link of somebody who has left.

## Keys

A key gives programs your access. Use one for each computer or script, so that you can revoke each separately.

1. Follow your name at the top, then **New key**. Enter what uses it, and when it expires.
2. The key is shown once. Store it in your password manager.
3. **Revoke** a key that is lost or no longer used. It stops working at once.

In a terminal, keep the key out of the command history. This command asks for it and shows nothing while you paste it:

\`\`\`sh
read -rs KEY && export KEY
\`\`\`

Never put a key into an address, a shared script, or a chat. If that happened, revoke it.

## Use it from a terminal

Programs can do everything that these pages do; the [interface reference](/docs/interface) has every request. Show your user:

\`\`\`sh
curl -H "Authorization: $KEY" https://data.example.org/v1/users/me
\`\`\`

List your dataspaces:

\`\`\`sh
curl -H "Authorization: $KEY" https://data.example.org/v1/dataspaces
\`\`\`

Create a set (\`--json\` needs curl 7.82 or newer), and upload a file to it:

\`\`\`sh
curl -H "Authorization: $KEY" --json '{"name": "runs-2026", "title": "Runs of 2026", "dataspaceId": "DATASPACE_ID"}' https://data.example.org/v1/sets
curl -H "Authorization: $KEY" -F setId=SET_ID -F file=@run-1.csv -F description="first run" https://data.example.org/v1/resources
\`\`\`

Upload a whole folder, eight files at a time, with paths as names:

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

# upload
with open("run-1.csv", "rb") as file:
    answer = lab.post(f"{BASE}/resources", data={"setId": "SET_ID", "description": "first run"}, files={"file": file})
    answer.raise_for_status()
    print(answer.json()["id"])
\`\`\`

Load a table into pandas directly:

\`\`\`python
import io
import pandas

table = pandas.read_csv(io.BytesIO(lab.get(f"{BASE}/resources/FILE_ID/data").content))
\`\`\`

## Use it from R

With the package [httr2](https://httr2.r-lib.org).

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

## Follow changes

A catalogue or a backup script needs every new, changed and deleted resource once. Start with \`state=all\`, follow the pages, and store
the last address: later it returns only what has changed since.

\`\`\`python
import pathlib

stored = pathlib.Path("last-address.txt")
url = stored.read_text() if stored.exists() else f"{BASE}/resources?state=all"
while True:
    answer = lab.get(url)
    answer.raise_for_status()
    page = answer.json()
    if page["end"]:
        break
    for resource in page["data"]:
        print(resource["state"], resource["id"], resource["name"])
    url = page["nextPage"]
    stored.write_text(url)
\`\`\`

Remove resources whose state is \`deleted\` from your copy. If a resource appears twice, the later one is newer.

To hear of a change while it happens, keep a stream of events open; \`labshelf watch\` prints them, too. The pages do the same: they show what others
change without being reloaded.

\`\`\`sh
curl -N -H "Authorization: $KEY" https://data.example.org/v1/events
\`\`\`

## Errors

| error | meaning | what to do |
|---|---|---|
| 401, or you have to sign in again | the key or the session has expired or was revoked; a key ends with the key that made it | create a new key, or sign in; an open form keeps what you typed until the same user has signed in again |
| 403 | your role does not allow this | ask an admin of the dataspace |
| 404 | it does not exist, or the address is wrong | search for it under **Browse** |
| 409 | the name exists, or the set or dataspace is deleted | see the message |
| 410 | the file is deleted, or the version was removed | restore it from the **Trash**; for a version, see the message |
| 500 \`data_damaged\` | the disk has damaged this file | upload the same file again, or tell the administrator, who may have a backup |
| 503 | the service accepts no changes at the moment | reading works; tell the administrator |
| 507 \`quota_exceeded\` | the quota of the dataspace, or yours, has no room for this file; nothing was stored | see **Usage**; ask a sysadmin to purge deleted files and old versions, or for a larger quota |
| 507 | the disk is full; nothing was stored | tell the administrator |

Each answer has a header \`X-Request-Id\`. Quote it when you ask for help: the log of the service contains it, too.
`;function u(){let[,...t]=a(s(n));return e(o,{title:"User guide",lead:"Short instructions, task by task. All commands contain the address of this service.",contents:r(t),children:e("div",{class:"prose",children:e(i,{tokens:t})})})}export{u as GuidePage};
