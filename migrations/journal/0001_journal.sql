-- The workstation's journal. Times are whole microseconds since 1970-01-01 UTC, digests are 32 bytes, documents are JSON.
-- The transaction that runs this also sets `user_version`, so that a journal has all of it or none.

-- 'CSGN': tells a journal from the SQLite files of other programs.
PRAGMA application_id = 1129531214;

-- Whose decisions these are. Installation and reviewer come with the first connection and never change after it.
-- `last_ordinal` outlives the rows that had the ordinals, so that none is given twice.
CREATE TABLE identity (
    singleton     INTEGER PRIMARY KEY CHECK (singleton = 1),
    workstation   TEXT    NOT NULL,
    installation  TEXT,
    reviewer      TEXT,
    last_ordinal  INTEGER NOT NULL DEFAULT 0 CHECK (last_ordinal >= 0),
    CHECK ((installation IS NULL) = (reviewer IS NULL))
) STRICT;

-- Leases as they were last heard of; whether one still stands is for the database to say.
CREATE TABLE lease (
    partition_key  TEXT    PRIMARY KEY,
    epoch          INTEGER NOT NULL,
    until_us       INTEGER NOT NULL,
    after_seq      INTEGER NOT NULL,
    more           INTEGER NOT NULL CHECK (more IN (0, 1))
) STRICT, WITHOUT ROWID;

-- Exceptions with their content, until they are answered or given back. A decided one outlives its lease, so there is no
-- foreign key. `body` is last: reading `item` alone does not touch the pages that a long body spills into.
CREATE TABLE deck (
    exception_id   INTEGER PRIMARY KEY,
    partition_key  TEXT    NOT NULL,
    seq            INTEGER NOT NULL,
    content        BLOB    NOT NULL CHECK (length(content) = 32),
    item           TEXT    NOT NULL,
    body           TEXT    NOT NULL
) STRICT;
CREATE INDEX deck_partition ON deck (partition_key, seq);

-- Decisions: READY → COMMITTED | REFUSED | DEAD, and DEAD → READY when the reviewer says so. An answered one never changes,
-- except that a refused one is replaced when the same decision is made again.
CREATE TABLE outbox (
    ordinal        INTEGER PRIMARY KEY CHECK (ordinal > 0),
    sign_off_key   BLOB    NOT NULL UNIQUE CHECK (length(sign_off_key) = 32),
    batch          TEXT    NOT NULL,
    exception_id   INTEGER NOT NULL,
    content        BLOB    NOT NULL CHECK (length(content) = 32),
    epoch          INTEGER NOT NULL,
    decision       TEXT    NOT NULL CHECK (decision IN ('APPROVE', 'REJECT')),
    reason         TEXT,
    comment        TEXT,
    decided_at_us  INTEGER NOT NULL,
    item           TEXT    NOT NULL,
    offline        INTEGER NOT NULL CHECK (offline IN (0, 1)),
    stage          TEXT    NOT NULL CHECK (stage IN ('READY', 'COMMITTED', 'REFUSED', 'DEAD')),
    attempts       INTEGER NOT NULL DEFAULT 0,
    answer         TEXT,
    problem        TEXT,
    settled_at_us  INTEGER,
    dismissed      INTEGER NOT NULL DEFAULT 0 CHECK (dismissed IN (0, 1))
) STRICT;
CREATE INDEX outbox_unsettled ON outbox (exception_id) WHERE stage IN ('READY', 'DEAD');
CREATE INDEX outbox_accepted ON outbox (settled_at_us, ordinal) WHERE stage = 'COMMITTED';

-- What a reviewer can still decide. It follows from the outbox and is kept nowhere else, so that the two cannot disagree. A
-- decision covers the content it was made on: a newer version of the same exception is undecided.
CREATE VIEW undecided AS
SELECT d.exception_id, d.partition_key, d.seq, d.item
FROM deck d
WHERE NOT EXISTS (
    SELECT 1 FROM outbox o WHERE o.exception_id = d.exception_id AND o.content = d.content AND o.stage IN ('READY', 'DEAD'));

-- Exceptions that could not be scored here, with the content that could not be.
CREATE TABLE dead_letter (
    exception_id  INTEGER NOT NULL,
    version       INTEGER NOT NULL,
    body          TEXT    NOT NULL,
    reason        TEXT    NOT NULL,
    attempts      INTEGER NOT NULL,
    at_us         INTEGER NOT NULL,
    PRIMARY KEY (exception_id, version)
) STRICT;
