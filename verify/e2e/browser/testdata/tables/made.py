"""Creates the hostile files of this folder. Requires pyarrow."""
import pyarrow as pa, pyarrow.ipc, pyarrow.parquet as pq

# A hundred nested lists.
value = [1]
kind = pa.int8()
for _ in range(100):
    value, kind = [value], pa.list_(kind)
deep = pa.table({"deep": pa.array([value[0]], kind)})
pa.ipc.new_file("made-deep.arrow", deep.schema).close()
pq.write_table(deep, "made-deep.parquet")

# A dictionary with one value of 40 MB, which a million rows use.
huge = pa.DictionaryArray.from_arrays(pa.array([0] * 1_000_000, pa.int8()), pa.array(["a" * 40_000_000]))
pq.write_table(pa.table({"huge": huge}), "made-dictionary.parquet", compression="zstd", compression_level=19, write_statistics=False, store_schema=False, dictionary_pagesize_limit=1 << 30)

# Names, values and metadata with markup.
bad = '<img src=x onerror="window.__hacked=1"><script>window.__hacked=1</script>'
names = pa.table({bad: [bad], "nested": [[{bad: bad}]]}).replace_schema_metadata({bad: bad})
pq.write_table(names, "made-names.parquet")
with pa.ipc.new_file("made-names.arrow", names.schema) as out:
    out.write_table(names)

# Buffers that declare an unpacked size of a TiB, and of four bytes.
rows = pa.table({"n": pa.array([0] * 100_000)})
with pa.ipc.new_file("made-bomb.arrow", rows.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as out:
    out.write_table(rows)
content = bytearray(open("made-bomb.arrow", "rb").read())
at = content.index((800_000).to_bytes(8, "little"))
content[at : at + 8] = (1 << 40).to_bytes(8, "little")
open("made-bomb.arrow", "wb").write(content)
content[at : at + 8] = (4).to_bytes(8, "little")
open("made-short.arrow", "wb").write(content)
