-- Whether the backlog was told of an exception that could not be scored here. Of those that are here already it was not.
ALTER TABLE dead_letter ADD COLUMN told INTEGER NOT NULL DEFAULT 0 CHECK (told IN (0, 1));
CREATE INDEX dead_letter_untold ON dead_letter (at_us) WHERE told = 0;

-- Decisions that the database can never take, until the backlog was told of them: without their comments.
CREATE TABLE given_up (
    sign_off_key  BLOB    PRIMARY KEY CHECK (length(sign_off_key) = 32),
    exception_id  INTEGER NOT NULL,
    version       INTEGER NOT NULL,
    original      TEXT    NOT NULL,
    reason        TEXT    NOT NULL,
    attempts      INTEGER NOT NULL,
    at_us         INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
