-- Times are UTC microseconds since 1970.  A row_id is scope_id << 32 | number, so the rows of one
-- scope lie together.  Every row carries a checksum of its columns (ebbmem/records/rows.py);
-- seq is the number of the change that wrote the row last.

CREATE TABLE meta (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL,
    checksum INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE scopes (
    scope_id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    last_seq INTEGER NOT NULL,
    next_number INTEGER NOT NULL,
    next_turn INTEGER NOT NULL,
    memory_count INTEGER NOT NULL,
    checksum_xor INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    checksum INTEGER NOT NULL
) STRICT;

-- The columns the index loads come first: reading them never touches a long text's pages.
CREATE TABLE memories (
    row_id INTEGER PRIMARY KEY,
    scope_id INTEGER NOT NULL GENERATED ALWAYS AS (row_id >> 32) VIRTUAL,
    number INTEGER NOT NULL GENERATED ALWAYS AS (row_id & 4294967295) VIRTUAL,
    seq INTEGER NOT NULL,
    checksum INTEGER NOT NULL,
    text_checksum INTEGER NOT NULL,
    importance REAL NOT NULL,
    emotional_valence REAL NOT NULL,
    emotional_intensity REAL NOT NULL,
    storage_strength REAL NOT NULL,
    r_anchor REAL NOT NULL,
    anchored_at INTEGER NOT NULL,
    access_count INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    recorded_at INTEGER NOT NULL,
    valid_from INTEGER,
    valid_to INTEGER,
    expires_at INTEGER,
    due_at INTEGER,
    pinned INTEGER NOT NULL,
    verified INTEGER NOT NULL,
    tier INTEGER NOT NULL,
    superseded_by INTEGER,
    superseded_at INTEGER,
    memory_type TEXT NOT NULL,
    run_id TEXT,
    id BLOB NOT NULL UNIQUE,
    digest BLOB NOT NULL,
    key TEXT,
    summary TEXT NOT NULL,
    keywords TEXT NOT NULL,
    detail TEXT,
    source TEXT,
    metadata TEXT
) STRICT;

CREATE UNIQUE INDEX memories_by_key ON memories (scope_id, key) WHERE key IS NOT NULL;
CREATE INDEX memories_by_digest ON memories (digest);
CREATE INDEX memories_by_due ON memories (scope_id, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX memories_by_successor ON memories (superseded_by) WHERE superseded_by IS NOT NULL;

CREATE TABLE vectors (
    row_id INTEGER PRIMARY KEY REFERENCES memories (row_id),
    seq INTEGER NOT NULL,
    checksum INTEGER NOT NULL,
    vector BLOB NOT NULL
) STRICT;

CREATE TABLE keywords (
    keyword TEXT NOT NULL,
    role TEXT NOT NULL CHECK (role IN ('has', 'wants')),
    row_id INTEGER NOT NULL REFERENCES memories (row_id),
    checksum INTEGER NOT NULL,
    PRIMARY KEY (keyword, role, row_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX keywords_by_row ON keywords (row_id);

CREATE TABLE links (
    source INTEGER NOT NULL REFERENCES memories (row_id),
    target INTEGER NOT NULL REFERENCES memories (row_id),
    kind TEXT NOT NULL,
    weight REAL NOT NULL,
    created_at INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    checksum INTEGER NOT NULL,
    PRIMARY KEY (source, target, kind)
) STRICT, WITHOUT ROWID;

CREATE INDEX links_by_target ON links (target);

CREATE TABLE intentions (
    id BLOB PRIMARY KEY,
    scope_id INTEGER NOT NULL REFERENCES scopes (scope_id),
    action TEXT NOT NULL,
    "trigger" TEXT,
    due_at INTEGER,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    completed_at INTEGER,
    seq INTEGER NOT NULL,
    checksum INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX intentions_by_scope ON intentions (scope_id, completed_at, created_at);

CREATE TABLE turns (
    row_id INTEGER PRIMARY KEY,
    run_id TEXT NOT NULL,
    role TEXT NOT NULL,
    content TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    memory INTEGER REFERENCES memories (row_id),
    seq INTEGER NOT NULL,
    checksum INTEGER NOT NULL
) STRICT;

CREATE INDEX turns_by_run ON turns (run_id);
CREATE INDEX turns_by_memory ON turns (memory) WHERE memory IS NOT NULL;

CREATE TABLE summaries (
    scope_id INTEGER NOT NULL REFERENCES scopes (scope_id),
    run_id TEXT NOT NULL,
    text TEXT NOT NULL,
    through INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    checksum INTEGER NOT NULL,
    PRIMARY KEY (scope_id, run_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE events (
    scope_id INTEGER NOT NULL REFERENCES scopes (scope_id),
    seq INTEGER NOT NULL,
    kind TEXT NOT NULL,
    at INTEGER NOT NULL,
    memory INTEGER,
    payload BLOB,
    checksum INTEGER NOT NULL,
    PRIMARY KEY (scope_id, seq)
) STRICT, WITHOUT ROWID;

CREATE INDEX events_by_memory ON events (memory) WHERE memory IS NOT NULL;

-- Where the history of a memory starts once its older events were folded away.
CREATE TABLE checkpoints (
    memory INTEGER PRIMARY KEY REFERENCES memories (row_id),
    seq INTEGER NOT NULL,
    at INTEGER NOT NULL,
    storage_strength REAL NOT NULL,
    r_anchor REAL NOT NULL,
    anchored_at INTEGER NOT NULL,
    access_count INTEGER NOT NULL,
    checksum INTEGER NOT NULL
) STRICT;

CREATE TABLE sources (
    memory INTEGER NOT NULL REFERENCES memories (row_id),
    kind TEXT NOT NULL CHECK (kind IN ('turn', 'memory')),
    source INTEGER NOT NULL,
    checksum INTEGER NOT NULL,
    PRIMARY KEY (memory, kind, source)
) STRICT, WITHOUT ROWID;

CREATE INDEX sources_by_source ON sources (source, kind);

-- digest is NULL once the text was remembered again on purpose.  It is keyed with the name of
-- the scope as well: it outlives the scope, which is made anew under another scope_id.
CREATE TABLE erased (
    scope_id INTEGER NOT NULL REFERENCES scopes (scope_id),
    id BLOB NOT NULL,
    digest BLOB,
    at INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    checksum INTEGER NOT NULL,
    PRIMARY KEY (scope_id, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX erased_by_digest ON erased (digest) WHERE digest IS NOT NULL;

CREATE VIEW readable_memories AS
SELECT
    s.name AS scope,
    m.number,
    lower(
        substr(hex(m.id), 1, 8) || '-' || substr(hex(m.id), 9, 4) || '-' || substr(hex(m.id), 13, 4)
        || '-' || substr(hex(m.id), 17, 4) || '-' || substr(hex(m.id), 21)
    ) AS id,
    m.memory_type,
    m.summary,
    m.detail,
    replace(m.keywords, char(10), ', ') AS keywords,
    m.importance,
    m.storage_strength,
    m.r_anchor AS retrievability,
    strftime('%Y-%m-%dT%H:%M:%fZ', m.anchored_at / 1e6, 'unixepoch') AS anchored_at,
    m.access_count,
    strftime('%Y-%m-%dT%H:%M:%fZ', m.created_at / 1e6, 'unixepoch') AS created_at,
    CASE m.tier WHEN 0 THEN 'warm' WHEN 1 THEN 'cold' ELSE 'archive' END AS tier,
    m.pinned,
    m.superseded_by & 4294967295 AS superseded_by,
    strftime('%Y-%m-%dT%H:%M:%fZ', m.expires_at / 1e6, 'unixepoch') AS expires_at,
    m.source,
    m.run_id,
    m.metadata
FROM memories AS m
JOIN scopes AS s ON s.scope_id = m.scope_id;

CREATE VIEW readable_links AS
SELECT
    s.name AS scope,
    l.source & 4294967295 AS source,
    l.target & 4294967295 AS target,
    l.kind,
    l.weight,
    strftime('%Y-%m-%dT%H:%M:%fZ', l.created_at / 1e6, 'unixepoch') AS created_at
FROM links AS l
JOIN scopes AS s ON s.scope_id = l.source >> 32;

CREATE VIEW readable_turns AS
SELECT
    s.name AS scope,
    t.run_id,
    t.role,
    t.content,
    strftime('%Y-%m-%dT%H:%M:%fZ', t.created_at / 1e6, 'unixepoch') AS created_at,
    t.memory & 4294967295 AS memory
FROM turns AS t
JOIN scopes AS s ON s.scope_id = t.row_id >> 32;

CREATE VIEW readable_intentions AS
SELECT
    s.name AS scope,
    i.action,
    i."trigger",
    strftime('%Y-%m-%dT%H:%M:%fZ', i.due_at / 1e6, 'unixepoch') AS due_at,
    strftime('%Y-%m-%dT%H:%M:%fZ', i.created_at / 1e6, 'unixepoch') AS created_at,
    strftime('%Y-%m-%dT%H:%M:%fZ', i.expires_at / 1e6, 'unixepoch') AS expires_at,
    strftime('%Y-%m-%dT%H:%M:%fZ', i.completed_at / 1e6, 'unixepoch') AS completed_at
FROM intentions AS i
JOIN scopes AS s ON s.scope_id = i.scope_id;

CREATE VIEW readable_events AS
SELECT
    s.name AS scope,
    e.seq,
    e.kind,
    strftime('%Y-%m-%dT%H:%M:%fZ', e.at / 1e6, 'unixepoch') AS at,
    e.memory & 4294967295 AS memory
FROM events AS e
JOIN scopes AS s ON s.scope_id = e.scope_id;
