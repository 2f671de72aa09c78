-- What fills the deck, as JSON.
ALTER TABLE identity ADD COLUMN focus TEXT;

-- Whether a decision may have been sent, the database's receipt that covers its answer, and what was done for it, as JSON. Of
-- decisions that are here already nobody knows whether they were sent.
ALTER TABLE outbox ADD COLUMN may_be_sent INTEGER NOT NULL DEFAULT 1 CHECK (may_be_sent IN (0, 1));
ALTER TABLE outbox ADD COLUMN receipt INTEGER;
ALTER TABLE outbox ADD COLUMN steps TEXT NOT NULL DEFAULT '[]';
CREATE INDEX outbox_batch ON outbox (batch, ordinal);

-- Confirmations: how many decisions there are to each that were not withdrawn, and what was attested, as it was shown.
CREATE TABLE confirmation (
    batch        TEXT    PRIMARY KEY,
    last_ordinal INTEGER NOT NULL,
    signed       INTEGER NOT NULL CHECK (signed >= 0),
    attestation  TEXT    NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX confirmation_latest ON confirmation (last_ordinal);
INSERT INTO confirmation (batch, last_ordinal, signed, attestation)
SELECT batch, max(ordinal), count(*), '' FROM outbox GROUP BY batch;

-- Refused decisions whose place the same decision has taken, made again: their confirmations still have to add up.
CREATE TABLE superseded (
    ordinal        INTEGER PRIMARY KEY,
    sign_off_key   BLOB    NOT NULL,
    batch          TEXT    NOT NULL,
    exception_id   INTEGER NOT NULL,
    content        BLOB    NOT NULL,
    epoch          INTEGER NOT NULL,
    decision       TEXT    NOT NULL,
    reason         TEXT,
    comment        TEXT,
    decided_at_us  INTEGER NOT NULL,
    item           TEXT    NOT NULL,
    offline        INTEGER NOT NULL,
    stage          TEXT    NOT NULL CHECK (stage = 'REFUSED'),
    attempts       INTEGER NOT NULL,
    answer         TEXT,
    problem        TEXT,
    settled_at_us  INTEGER,
    policy_version INTEGER NOT NULL,
    seal           TEXT,
    may_be_sent    INTEGER NOT NULL,
    receipt        INTEGER,
    steps          TEXT    NOT NULL
) STRICT;
CREATE INDEX superseded_batch ON superseded (batch, ordinal);

-- The content of an exception before it changed. It goes when the exception does.
CREATE TABLE previous (
    exception_id   INTEGER PRIMARY KEY,
    partition_key  TEXT    NOT NULL,
    version        INTEGER NOT NULL,
    body           TEXT    NOT NULL
) STRICT;
CREATE INDEX previous_partition ON previous (partition_key);

-- What the window keeps of itself: half-written comments, the view, the selection.
CREATE TABLE ui_state (
    singleton  INTEGER PRIMARY KEY CHECK (singleton = 1),
    state      TEXT    NOT NULL CHECK (length(CAST(state AS BLOB)) <= 500000)
) STRICT;
