-- Vectors of the embedder that a store is changing to, until every memory has one: then they
-- take the place of those in vectors, and are checked by the same checksum.
CREATE TABLE staged (
    row_id INTEGER PRIMARY KEY REFERENCES memories (row_id) ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    checksum INTEGER NOT NULL,
    vector BLOB NOT NULL
) STRICT;
