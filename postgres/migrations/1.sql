-- The buckets of the tables, by name, since their numbers are those of one version of the program.
create table buckets (
	id   smallint primary key,
	name text not null unique
);

-- The keys and values of the buckets. Small bodies stay beside their keys: a page of 8 KiB holds one of 4 KiB and some keys.
create table key_values (
	bucket smallint not null,
	key    bytea not null,
	value  bytea not null,
	primary key (bucket, key)
) with (fillfactor = 90, toast_tuple_target = 8160);
alter table key_values alter column value set storage external;

-- Keys that are too long for an entry of an index, which ends at 2,704 bytes. The head is what the key begins with.
create table long_key_values (
	bucket smallint not null,
	digest bytea not null,
	head   bytea not null,
	key    bytea not null,
	value  bytea not null,
	primary key (bucket, digest)
);
create index long_heads on long_key_values (bucket, head);

-- One row, which every commit locks first and changes: the last stamp that was given out, the version of the rows that decide access, the
-- schema version of the tables, and which buckets have had long keys.
create table state (
	stamp  bigint not null,
	access bigint not null,
	schema integer not null,
	long   smallint[] not null
) with (fillfactor = 10);
