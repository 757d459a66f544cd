import{a,c as o,e as r,f as i}from"./chunk-FYXWBWCQ.js";import{h as s}from"./chunk-M37BEPNU.js";import"./chunk-EHTXLPOY.js";import"./chunk-XO7M45HO.js";import{q as e}from"./chunk-DASCXOL6.js";import"./chunk-OOJM4CTU.js";var n=`# User guide

## Terms

- A **dataspace** belongs to a group or a project. Its members and their roles control access. **New dataspace** under **Browse** creates
  one; some services allow this only to sysadmins.
- A **set** contains files that belong together: one campaign, one sample, one paper. A set is in one dataspace.
- A **file** is in one set. The API calls a file with its record (name, description, format, size, SHA-256) a *resource*.
- Your **role** in a dataspace sets your permissions there: a *member* reads, an *editor* also uploads, changes and deletes, an
  *admin* also manages the members. *Sysadmins* administer the whole service.

Every page has an address that you can store or send to a colleague. Opening it requires an account and permission.

## Search

The field at the top of every page searches dataspaces, sets and files that you can read. Press \`/\` to go there. The search covers names,
titles, descriptions, tags, properties, creators and the text of files. The beginning of a word is enough.

| type | to find |
|---|---|
| \`ice core\` | both words |
| \`"ice core"\` | the words next to each other |
| \`temp -raw\` | words that begin with *temp*, but not the word *raw* |
| \`tag:ice\`, \`creator:curie\` | a tag, or a creator |
| \`type:csv\`, \`type:set\` | files of a format or type; only sets |
| \`in:physics\`, \`in:physics/raw\` | the content of a dataspace, or of a set, by their short names |
| \`by:ada size:>1GB modified:2026-01..\` | large files that Ada uploaded, changed since January |
| \`temperature:>20C\`, \`operator:ada\` | properties; quantities are compared across units |
| \`is:incomplete\` | files and sets with missing required [form](#forms) fields |

All conditions must match. The counts next to the hits narrow them down: a click adds a condition, another click removes it. To keep a
search, bookmark the page or send its address to colleagues. They see the hits that they can read.

The search finds changes within a second, and the text of a large file within a minute. After an upgrade the search can report that it is
catching up. Until then some hits can be missing.

## Find a file

1. **Browse** begins with the latest changes and the sets in which you work. Otherwise open the dataspace, then the set.
2. In a set, type the beginning of the name into **Name begins with**. All names of the set are searched, not only those on the screen.
   Folders are a part of the name: \`2026/march/\` finds the files of that folder.
3. A long list has **Go to** above it: type the beginning of a name, or a day if the list is sorted by time, and press Enter. The arrows
   next to it go to the beginning and the end.
4. Or select the order **newest change first**; **Changed since … and before** limits the list to some days.
5. **Show: active and deleted** also lists deleted files.

From a terminal (see [keys](#keys) for \`$KEY\`; \`SET_ID\` is the last part of the address of the set's page):

\`\`\`sh
curl -H "Authorization: $KEY" "https://data.example.org/v1/sets/SET_ID/resources?namePrefix=2026/march/"
\`\`\`

With the keyboard: \`j\` and \`k\` go through a list, \`x\` selects, Enter opens, Del deletes the selection, \`e\` edits the file, set or dataspace
of the page, \`/\` goes to the search. \`?\` shows the keys of a page, and can switch single keys off.

## Preview a file

Open the file. Images, tables, text, notebooks, PDF, audio and video have previews. Tables can be plotted.

- **Archives** (ZIP, tar) show their files. Each of them opens like any other file.
- **Arrays:** HDF5, NetCDF, FITS, NumPy and MATLAB files show their groups and arrays, with slices as picture, line or table.
- **Columns:** Parquet and Arrow files show their schema and rows.
- **Sequences:** FASTA and FASTQ files show their sequences and qualities, VCF, SAM, BAM, GFF and BED files their headers and records. A
  large file shows its first records; **Read more** loads more.
- **TIFF** has contrast, colour maps and a scale. A large slide is shown by its smaller copies until you zoom in.

The address of the page includes the slice. Other files show their first bytes. Next to the preview are size, type, the last change and its
author. The SHA-256 and the id are under **For programs**. The menu **⋯** next to the title has further actions.

**Arrays** of NetCDF, HDF5, FITS and GeoTIFF show physical values: scaled, without missing values, with units, dates and coordinates. **As
stored** shows the
numbers in the file. A NeXus file opens its default data. The contrast of a picture leaves out the lowest and highest 0.5 % of the values;
**Contrast** has the whole
range. **CSV** saves a line or the shown part of a table.

**Text** files show their encoding. If characters look wrong, choose another one under **Encoding** (in tables under **Import options**). If
a viewer cannot show a file, choose
**Text** or **Bytes**. SVG is shown as a picture; **Source** shows its text.

**Plot a table**: open it, and press **Plot**. Tick the columns for Y and choose the one for X; **Errors and axes** has error bars and a second axis, **Fit line** a straight line
by least squares (weighted if an error column is selected), **Histogram** counts values in bins. **Add a file …** draws columns of other tables of the set in the same plot. Or
select the files in the list and press **Plot together**. Drag across the plot to zoom. The address of the page includes these settings: send it to a colleague to show the same
plot. Save the plot as PNG, as SVG for documents, or save the values in view as CSV. Tables larger than 64 MB are read once as a whole, on request: the plot shows the minimum and
maximum of each of 2,000 parts, so no peak is lost, and reads a part again when you zoom in. Fits use all rows; histograms use the loaded rows.

Spectra in JCAMP-DX and SPC are shown as plots. Their X axis runs to the left where this is customary.

Source code has syntax colours. Click a line number to put the line into the address of the page; click with Shift for a range, such as
\`#L12-L20\`. **Go to line** does the same with the keyboard. Such an address opens the file at these lines.

Surfaces (STL, PLY, OBJ) and structures of atoms (PDB, mmCIF, CIF, XYZ, MOL, SDF) are shown in three dimensions. Drag the picture to rotate it, or click on it and use the
arrow keys. With Shift the arrow keys move it, \`+\`, \`−\` and the wheel zoom, \`0\` resets the view, and the buttons below do the same. Proteins
can be shown as backbones, crystals as whole cells. A slider goes through models, steps or molecules. Below are the legend of the colours
and a summary: atoms, residues, chains, formula and cell, or triangles, extent, area, and the volume of closed surfaces. **Atoms** shows a
table of the atoms, **Text** the file itself. MOL and SDF files contain bonds; in other files, bonds are inferred from distances. The
address of the page includes the style, but not the viewing angle.
Markdown and notebooks show formulas (\`$…$\`, \`$$…$$\`, \`\\(…\\)\`, \`\\[…\\]\`, and blocks of code in the language \`math\`), the pictures of their set (\`![](figures/a.png)\`, from where the
document is), and links to other files of it. Pictures from other sites are links, so that no other site learns who reads a document.
Notebooks show pandas tables as tables and fold long outputs.

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

A \`/\` in a name creates a folder. The page of a set shows folders as a tree, each with its own address. **All files** shows one list instead. The browser remembers the choice. In
an open folder:

- **Download folder** downloads it as zip. Files that you drop are uploaded into it.
- **New folder** creates an empty folder.
- In the list, press F2 or the pencil next to a name to rename a file or folder. Drag rows onto folders or breadcrumbs to move them.
  **Undo** reverts both.
- **⋯**, **Rename, move, copy** changes its path within the set, such as \`raw/2026\`. **Undo** reverts it.
- **Delete folder** moves its files to the trash. **Undo** in the message restores them.
- **Changed** at the top of the list sorts a folder of up to 2,000 files by time. In the whole set it lists all files by time.
- While someone copies, moves or deletes a folder, others have to wait before they can do the same.

The count of a folder ends at 10,000: "10,000+ files".

The list shows thumbnails of pictures of up to 4 MB, and symbols for other files. **Columns** sets the columns and the height of the rows.
The browser remembers this choice.

**Many files:** select single files, a range with Shift, or, with the box at the top, all files that match the filters, up to 100,000. The
selection stays when the list changes. **Delete** and **Move or copy …** show their progress. **Cancel** stops them between two steps of 200
files, and **Undo** reverts the completed steps. In the list of deleted files, **Restore** restores the selected files.

## Upload a folder

1. Open a set, or a dataspace: there you select or create the set in step 3.
2. Drop files or a whole folder anywhere on the page, or press **Upload files** or **Upload a folder**. Names contain the path within
   the folder. Files that cannot be read are listed.
3. Select an option for names that exist, then press **Upload**. Before files are replaced, they are listed for confirmation.

You can visit other pages during the upload, but leave the window open. A report lists the files that were sent, already existed, or failed.
**Retry failed** sends only the failed files. A file counts as sent only when it is on stable storage.

If the window was closed, the set lists the unfinished uploads of large files with their progress. **Select the file again**
resumes an upload; small files are sent again.

You need the role editor or admin.

To upload copied files or a copied picture, press Ctrl V on the page of a set.

## Replace, rename, describe

- **⋯**, **Replace** on the page of a file replaces its content, after confirmation. Address and id stay, and the old content becomes an
  older [version](#versions).
- **⋯**, **Edit** changes the name, description and format of a file, and the title and description of a set or dataspace.
- The short name of a set or dataspace cannot be changed; its title can.
- If the same field was changed since you opened the form, you see both values and select which one to keep.

## Move or copy

**⋯**, **Move or copy …** on the page of a file, or for the selected files of a set, puts them into another set. The set can be in any
dataspace in which you are an editor. The bytes stay in place, so a large file takes no longer than a small one.

- A **moved** file keeps its versions, tags and properties. It gets a new address in the other set, and the old address leads to it.
  **Undo** in the notice, or moving it back later, restores its old address. Restoring the old record instead creates a second file.
- A **copy** is a new file with the current version. Copying requires read access to the file.
- Moving a file within its set only renames it. Names can repeat: nothing is replaced.

## Describe

Tags and properties say what a file, a set or a dataspace is about, so that people and programs find it. **Describe** (later **Edit metadata**) on its page opens
the form; files and sets need the role editor, a dataspace admin.

- A **tag** is a word or a few: type it and press Enter.
- A **property** has a name, a value and, if it is a number, a unit: *temperature*, 20, °C. Numbers, dates such as 2026-01-31, and yes or no are
  recognised; select another kind if that is wrong. A list is written as \`["a", 1]\`, a group as \`{"id": "S1"}\`.

Replacing a file keeps its tags and properties. The [history](#history) shows each change of them.

## Forms

A form defines the properties to fill in for each file or set, such as sample, instrument and temperature. The API calls it a *schema*.
**Forms** on the page of a dataspace lists its forms. Its admins create them.

**To create a form,** press **New form**, enter a title, and select the files it is for, or sets. Then add fields: type a label, select the
kind, and press Enter
for the next one. **Required** fields have to be filled in. **Several** turns a field into a list. A **Group of fields** with *Several* can
be repeated, such as the steps of a preparation. A **Number with a unit** accepts the units that you allow. **More** has the help text of a
field and its name for programs. The preview next to the fields shows the finished form. Move a field with its arrows, or with Alt and an
arrow key.

- **Remind:** everything is saved. Missing values are shown, and the file is marked as incomplete.
- **Insist:** changes are refused until all fields are valid. Uploads always work: a new file is incomplete until someone fills in the form.

Saving a changed form creates a new version. Values that were filled in before keep their version until someone switches to the new one.
**For programs** has the form as [JSON Schema](https://json-schema.org), which can be edited there. Rules that the fields cannot show are
kept.

**To fill in a form,** press **Fill in the form** on the page of a file or a set. The file is shown next to the form. **Save and next**
(Ctrl+Enter) opens the next incomplete file of the set, and **The rest as in …** fills empty fields with the values that you saved last. The
page of the set shows the number of incomplete files, and **Describe them one by one** begins with the first. The search \`is:incomplete
in:dataspace/set\` lists them.

## Describe many files

- **Selected files:** select them in the list of the set, with Shift for a range or with the box at the top for the whole list, then press
  **Describe …**. Add and remove
  tags, and set fields of the form or other properties. You see the changes of each file before you confirm.
- **As a table:** **Metadata table** on the page of the set downloads the metadata of all files as CSV, one row per file. Edit it in a
  spreadsheet, and upload it on the
  same page. The page shows the changes of each cell and the problems of each row. Nothing changes until you press the button. Files that
  others have changed since the download are not overwritten. The limit is 20,000 files per table.

  | column | content |
  |---|---|
  | \`id\`, \`etag\` | identify the file and its state: leave them as they are |
  | \`name\` | read-only |
  | \`tags\` | separated by commas |
  | \`properties.operator\` | the property *operator*; a new property is a new column. An empty cell removes it |

  Write \`20 °C\` for a number with its unit, \`2026-01-31\` for a date, \`'007\` for a text that looks like a number.
- **Undo:** a notice offers it for a minute. Later, the page **Metadata table** lists the last edits of many files with a button for each.
  An undo skips and lists files that have changed since. It can itself be undone.

## Properties from instruments

**⋯**, **Edit** on the page of a set has **Fill in properties from**: *a JSON file next to the file* (\`run-1.tif.json\` next to \`run-1.tif\`),
and *the file’s
own header* (CSV, TIFF, EXIF and others). Both are off by default. Switching them on also reads existing files. Properties that were filled
in automatically show their source. Values that people have entered are never overwritten. The JSON file takes precedence over the header.

## Prepare a publication

**Describe** on the page of a set has the fields that a publication needs. The page lists missing fields; each word leads to its field.

| field | content |
|---|---|
| creators | the authors of the data, in order. **Add yourself** begins with you; an [ORCID iD](https://orcid.org) distinguishes people with the same name |
| publisher | the organisation that keeps the data available, usually your university or institute |
| year of publication | the year of publication, past or planned |
| type | usually *dataset* |
| licence | the rights of others; *CC-BY-4.0* allows every use that names you |
| keywords, related works, dates, funding, places | information that helps others to find and understand the data |

One button copies values from the dataspace, such as its publisher.

## Versions

Each replacement of a file creates a new version and keeps the older ones. The page of the file lists them, newest first, with author and
time. Restoring and labelling require the role editor or admin.

- **The wrong file was uploaded:** press **Restore** next to the version that you want. It becomes the newest version, with its name and
  description. To undo that, restore the previous version.
- **Look at an older version:** follow **Version …**. Its address always shows and downloads the same file.
- **Compare versions:** **Compare** shows an older version next to the current one. On the page of a version, enter the number of any other
  version. Text and tables of up to 4 MB are compared line by line.
- **Label** a version that must stay, such as *as published*.

From a terminal:

\`\`\`sh
curl -H "Authorization: $KEY" https://data.example.org/v1/resources/FILE_ID/versions
curl -f -o run-1.csv -H "Authorization: $KEY" https://data.example.org/v1/resources/FILE_ID/versions/3/data
curl -f -X POST -H "Authorization: $KEY" https://data.example.org/v1/resources/FILE_ID/versions/3/restore
\`\`\`

All versions are kept, unless an admin of the dataspace limits them: **Edit**, **Versions kept**. A purge then removes the files of the other versions. Versions with a label stay.
The list still shows a removed version, and its page shows the time and the rule of the removal. **Usage** shows the size of old versions and the used part of a quota. All
versions count, and deleted files count until they are purged. Sysadmins can **Erase** the file of one version immediately, for example if it contains personal data.

## History

**⋯**, **History** on the page of a file, a set or a dataspace lists all changes with author and time, newest first: uploads, replacements,
changed names and descriptions (before → now), deletions, roles. Everyone who can read the object can read its history. The number
of a version leads to its page.

The **Audit log** covers all objects. Sysadmins find it in the menu, with sign-ins, keys and refused requests. Admins find a link to it on
the history of their dataspace, and see the entries of their dataspaces. Filter it by user, kind of action, time, or the id of an object.
Each entry shows the request and the address that it came from.

- **Signed head** shows the size of the log and a signed hash of all its entries. Store it elsewhere, such as in an email to a colleague: an
  old head shows whether an entry has changed since. A head that is kept in the service itself proves
  nothing.
- **Export** downloads the whole log with its head. Verify it elsewhere with \`labshelf audit verify\` or your own program.
- **Erase texts** removes the names, texts and the address of an entry, such as personal data. The entry stays, marked as erased, and the
  log still verifies.

## Webhooks

A webhook sends a message to your URL for each change, for example to start a pipeline when a file arrives. Sysadmins find **Webhooks** in the menu, admins on the history of their
dataspace. **New webhook** requires the URL, and accepts a dataspace and the kinds of changes, such as \`resource.*\`. It shows the secret that signs the messages once. The operator
of the service decides which hosts are allowed.

The list shows pending messages, the time of the next attempt, and the reason why a webhook is paused. **Resume** continues with the next message; **Skip** skips the failing
message, or all messages up to now. **Deliveries** lists the last 200 messages with the responses of the receiver; **Repeat** sends one again.

## Mount it

Everything that you can read is also available as a network drive, at \`https://data.example.org/dav/\`: dataspaces, their sets, and the
folders in the names of files. Open and save files there with any program; each
save is a new version. The username does not matter; the password is a [key](#keys). Create one for each computer. Over plain http, only
programs on the server itself can use it.

**Windows.** Explorer: **This PC**, **Map network drive**, \`https://data.example.org/dav/\`, **Connect using different credentials**. Windows
limits files to 50 MB unless \`FileSizeLimitInBytes\` in the registry is larger (4 GB at most), does not resume uploads, and cannot open names
with \`: * ? " < > |\`. To avoid these limits, use WinSCP (protocol WebDAV, encryption TLS) or
[rclone](https://rclone.org) with WinFsp: \`rclone mount lab: X: --vfs-cache-mode writes\`.

**macOS.** Finder: **Go**, **Connect to Server**, \`https://data.example.org/dav/\`. Finder downloads a whole file before it opens it.

**GNOME.** Files: **Other Locations**, then \`davs://data.example.org/dav/\` under **Connect to Server**. In KDE it is \`webdavs://\`.

**Linux, mounted for all programs.** With davfs2, as root:

\`\`\`sh
mount -t davfs https://data.example.org/dav/ /mnt/lab -o uid=$USER
\`\`\`

On Linux 6.16 and newer davfs2 1.6 needs the line \`buf_size 256\` in \`/etc/davfs2/davfs2.conf\`, or folders cannot be listed.

**rclone**, on any system, prompts for the key and then copies, synchronises and mounts:

\`\`\`sh
rclone config create lab webdav url=https://data.example.org/dav vendor=owncloud user=me
rclone config password lab pass
rclone copy measurements lab:DATASPACE/SET/measurements
rclone mount lab: ~/lab --vfs-cache-mode writes
\`\`\`

With \`vendor=owncloud\` rclone compares modification times and checksums: \`rclone sync\` and \`rclone bisync\` send only changes, and \`rclone
check\` finds files that differ. A remote with \`vendor=other\` compares only sizes and misses edits that keep the size. Change it with \`rclone
config update lab vendor owncloud\`.

A program that crashed can leave a file locked for up to an hour. \`labshelf unlock SET:NAME\` removes your lock. An admin of the dataspace
can remove any lock.

Programs that save by replacing the old file with a new one (Word on a mounted drive) create a new file with another id. The old file is in
the **Trash**, like every file that is deleted on the drive. Files with the same name have \`(ID)\` in their names.

## Delete and restore

**⋯**, **Delete** moves a file, a set with its content, or a dataspace to the **Trash**. **Restore** requires the same permission as
**Delete**. Restoring a set or dataspace also restores the content deleted with it. To restore single files of a deleted set or dataspace,
restore the set or dataspace first: a link leads to it.

The bytes stay until a sysadmin purges old deletions. *Purged* files and their versions cannot be restored.

## Give a colleague access

1. The colleague needs an account. Sysadmins create one under **Users**, with a first key, or invite the colleague there.
2. Open the dataspace, **Share**, **Members**, **Give access**. You must be its admin.
3. Select the user and a role: *member* to read, *editor* to upload as well, *admin* to manage the members as well.

If the colleague has no account yet, use **Invite …** there or under **Share**. It is available to sysadmins, and to admins if the operator allows it. It creates a link for one
person. Copy the address, write an email, or scan the QR code with a phone. The invited person opens the link, chooses a username, sees their key once, and gets the role that you
have selected. A colleague who is signed in accepts the role with one click. The link works once, by default within 7 days. **Links** shows whether it was accepted, and can revoke
it. A link that you create in a browser on the server itself can contain \`127.0.0.1\`, which works nowhere else. The page warns you: open the pages under their public name and
create the link there.

**Remove access** next to a member takes effect immediately. To let all users read, edit the dataspace and select **Readable by: All users**. **Everyone** also includes people
without an account, if the operator of the service allows that. Then anyone can read and download everything in the dataspace, and search engines can find it.

## Share with people who have no account

**Share**, then **Make a link …**, on the page of a set or a file, and **Share …** for selected files, creates a *link*: an address that works for anyone who has it. You must be
an editor.

- **Show files:** visitors see the set, one folder of it or the selected files. They can download single files or everything as zip. A link
  to a set or a folder shows its current content; a link to files always shows their newest versions.
- **Request files:** visitors upload files into the set, but do not see its content. Their files go into a folder with the label of the link and
  the date. Visitors can upload a folder, or hundreds of files at a time. An interrupted upload resumes automatically. Instruments can upload,
  too: the page of the link shows how.

Set when the link expires. Optionally set a password, a limit of downloads or files, and a largest file size. The address is shown only
once: copy it, write an email, or scan the QR code with a phone. Anyone who gets the address can pass it on.

**Links** at the top lists your links, and all links of dataspaces that you are an admin of, with their use. **Change** sets another expiry or password. **Revoke** ends a link
immediately. A link has at most the permissions of its owner: it does not work while its owner lacks the role. An admin can **Take over** the link of someone who has left.

## Keys

A key gives programs access. Use one for each computer or script, so that you can revoke each separately.

1. Follow your name at the top, then press **New key**. Enter a label, such as the computer that uses it.
2. Choose what the key is for. The fields below show what the key may do, where, from which network addresses, and until when. You can change them.
3. The key is shown once. Store it in your password manager.
4. **Revoke** a key that is lost or no longer used. It stops working immediately.

| purpose | the key | expires after |
|---|---|---|
| An instrument | adds files to one set. It can neither read nor delete any | one year |
| A script | reads, adds, changes and deletes files in one dataspace | one year |
| A colleague's program | reads one dataspace | 90 days |
| Everything I may do | has all your permissions, such as for a browser | never, or with the key that created it |

**Limit** makes a key narrower: it may do less, in fewer places, from fewer network addresses, or not as long. This cannot be undone; for a
wider key, create a new one. Keys, links and webhooks that were created with the key then end, unless you keep them; the dialog lists them
first. If only the label or the expiry changes, they stay, but such keys expire no later than this one.

In a terminal, keep the key out of the command history. This command reads the key without showing it:

\`\`\`sh
read -rs KEY && export KEY
\`\`\`

Never put a key into an address, a shared script, or a chat. If that has happened, revoke the key.

## Use it from a terminal

Programs can do everything that these pages do. The [API reference](/docs/interface) lists every request. Show your user:

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
the last address. Later it returns only the changes since then.

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

To receive changes as they happen, keep a stream of events open. \`labshelf watch\` prints them, too. The web pages use the same stream to
stay up to date without a reload.

\`\`\`sh
curl -N -H "Authorization: $KEY" https://data.example.org/v1/events
\`\`\`

## Errors

| error | meaning | what to do |
|---|---|---|
| 401, or you have to sign in again | the key or the session has expired or was revoked, or the key that created it was revoked | create a new key, or sign in; an open form keeps what you typed until the same user has signed in again |
| 403 | your role does not allow this | ask an admin of the dataspace |
| 404 | the object does not exist, or the address is wrong | search for it under **Browse** |
| 409 | the name exists, or the set or dataspace is deleted | see the message |
| 410 | the file is deleted, or the version was removed | restore it from the **Trash**; for a version, see the message |
| 500 \`data_damaged\` | the disk has damaged this file | upload the same file again, or tell the administrator, who may have a backup |
| 503 | the service accepts no changes at the moment | reading works; tell the administrator |
| 507 \`quota_exceeded\` | the file does not fit into your quota or the quota of the dataspace; nothing was stored | see **Usage**; ask a sysadmin to purge deleted files and old versions, or for a larger quota |
| 507 | the disk is full; nothing was stored | tell the administrator |

Each response has a header \`X-Request-Id\`. Quote it when you ask for help: the log of the service contains it, too.
`;function m(){let[,...t]=s(a(n));return e(o,{title:"User guide",lead:"Short instructions, task by task. All commands contain the address of this service.",contents:r(t),children:e("div",{class:"prose",children:e(i,{tokens:t})})})}export{m as GuidePage};
