-- One schema holds everything. Nobody but its owner has rights on a table: every caller goes through the functions of the
-- migrations that follow.

CREATE SCHEMA countersign;
REVOKE ALL ON SCHEMA countersign FROM PUBLIC;

-- Which installation this is. A workstation's journal remembers `id`, so that decisions made for one close never reach another
-- database. `chain_*` is the head of the audit chain of everything that belongs to no partition.
CREATE TABLE countersign.installation (
    singleton   boolean     PRIMARY KEY DEFAULT true CHECK (singleton),
    id          uuid        NOT NULL DEFAULT gen_random_uuid(),
    created_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    chain_seq   bigint      NOT NULL DEFAULT 0,
    chain_head  bytea       NOT NULL DEFAULT '\x'
);
INSERT INTO countersign.installation DEFAULT VALUES;

-- A person who may sign; `login` is the database login they come with.
CREATE TABLE countersign.reviewer (
    login         text        PRIMARY KEY CHECK (login <> ''),
    display_name  text        NOT NULL,
    active        boolean     NOT NULL DEFAULT true,
    added_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
    added_by      text        NOT NULL
);

-- One journal on one machine of one reviewer.
CREATE TABLE countersign.workstation (
    id           uuid        PRIMARY KEY,
    reviewer     text        NOT NULL REFERENCES countersign.reviewer,
    name         text        NOT NULL,
    app_version  text        NOT NULL,
    first_seen   timestamptz NOT NULL,
    last_seen    timestamptz NOT NULL
);

-- The settings a workstation works with, one row for each change.
CREATE TABLE countersign.setting_version (
    workstation  uuid        NOT NULL,
    version      integer     NOT NULL,
    settings     jsonb       NOT NULL,
    since        timestamptz NOT NULL,
    PRIMARY KEY (workstation, version)
);

-- The unit of leasing, ordering and fencing, and of the audit chain.
--   epoch, holder, holder_reviewer: whom the current epoch was given to. They stay when a lease ends, so that a decision made
--     under a lease that lapsed, and that nobody took since, is still good.
--   lease_until: NULL while the partition is free.
--   head_seq: the first item without an effect. Everything below it is RESOLVED; at and above it items are PENDING, or decided
--     and held behind a PENDING one. It stands in for an index on the state, so that deciding an item touches no index at all.
--   claim_rank: the earlier, the sooner it is claimed: when the most urgent item was submitted, less the headstart of its tier.
--   shut_out: everyone who may sign nothing of what is left here, because they prepared all of it.
CREATE TABLE countersign.partition (
    partition_key    text        PRIMARY KEY CHECK (partition_key <> ''),
    epoch            bigint      NOT NULL DEFAULT 0,
    holder           uuid,
    holder_reviewer  text,
    lease_until      timestamptz,
    next_seq         bigint      NOT NULL DEFAULT 1,
    head_seq         bigint      NOT NULL DEFAULT 1,
    pending          integer     NOT NULL DEFAULT 0 CHECK (pending >= 0),
    claim_rank       timestamptz NOT NULL DEFAULT 'infinity',
    shut_out         text[]      NOT NULL DEFAULT '{}',
    chain_seq        bigint      NOT NULL DEFAULT 0,
    chain_head       bytea       NOT NULL DEFAULT '\x',
    ready            boolean     NOT NULL GENERATED ALWAYS AS (lease_until IS NULL AND pending > 0) STORED,
    CHECK (head_seq <= next_seq)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02);
CREATE INDEX partition_ready ON countersign.partition (shut_out, claim_rank, partition_key) WHERE ready;
CREATE INDEX partition_lease_until ON countersign.partition (lease_until) WHERE lease_until IS NOT NULL;
CREATE INDEX partition_holder ON countersign.partition (holder) WHERE lease_until IS NOT NULL;

-- One row for each exception. No index covers `state`, so that deciding is a heap-only update.
-- There is no foreign key on the hot path: checking one locks the row it points at, and only the functions write here.
CREATE TABLE countersign.exception (
    id               bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    partition_key    text        NOT NULL,
    seq              bigint      NOT NULL,
    idempotency_key  text        NOT NULL CHECK (idempotency_key <> ''),
    kind             text        NOT NULL CHECK (kind IN ('recon_break', 'sales_claim', 'receipt')),
    match_decision   text        NOT NULL CHECK (match_decision IN ('MATCHED', 'PARTIAL', 'UNMATCHED')),
    routing_tier     text        NOT NULL CHECK (routing_tier IN ('standard', 'priority', 'escalated')),
    ledger_entity    text        NOT NULL,
    currency         text        NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
    variance_amount  numeric     NOT NULL CHECK (variance_amount <> 'NaN' AND abs(variance_amount) < 'infinity'),
    prepared_by      text[]      NOT NULL CHECK (cardinality(prepared_by) > 0),
    group_key        text,
    trace_id         uuid        NOT NULL,
    correlation_id   uuid        NOT NULL,
    source_hash      text        NOT NULL,
    submitted_at     timestamptz NOT NULL,
    arrived_at       timestamptz NOT NULL,
    version          integer     NOT NULL DEFAULT 1,
    content_hash     bytea       NOT NULL CHECK (length(content_hash) = 32),
    state            text        NOT NULL DEFAULT 'PENDING' CHECK (state IN ('PENDING', 'APPROVED', 'REJECTED', 'RESOLVED')),
    decision         text        CHECK (decision IN ('APPROVE', 'REJECT')),
    decided_by       text,
    decided_at       timestamptz,
    resolved_at      timestamptz,
    UNIQUE (idempotency_key),
    UNIQUE (partition_key, seq),
    CHECK ((state = 'PENDING') = (decision IS NULL)),
    CHECK ((state = 'RESOLVED') = (resolved_at IS NOT NULL))
) WITH (fillfactor = 70);
CREATE INDEX exception_group ON countersign.exception (partition_key, group_key) WHERE group_key IS NOT NULL;

-- What a reviewer sees and what a sign-off binds: the exact text, one row for each version.
CREATE TABLE countersign.exception_content (
    exception_id  bigint      NOT NULL,
    version       integer     NOT NULL,
    content_hash  bytea       NOT NULL,
    body          text        NOT NULL,
    arrived_at    timestamptz NOT NULL,
    PRIMARY KEY (exception_id, version)
);

-- Accepted sign-offs. A refusal binds no key: it is in the audit stream, and a later attempt is judged anew.
CREATE TABLE countersign.sign_off (
    sign_off_key  bytea       PRIMARY KEY,
    payload_hash  bytea       NOT NULL,
    exception_id  bigint      NOT NULL,
    version       integer     NOT NULL,
    content_hash  bytea       NOT NULL,
    reviewer      text        NOT NULL,
    workstation   uuid        NOT NULL,
    epoch         bigint      NOT NULL,
    decision      text        NOT NULL CHECK (decision IN ('APPROVE', 'REJECT')),
    reason        text,
    comment       text,
    decided_at    timestamptz NOT NULL,
    signed_at     timestamptz NOT NULL,
    outcome       text        NOT NULL CHECK (outcome IN ('COMMITTED', 'AWAITING_SECOND', 'HELD'))
);
CREATE INDEX sign_off_exception ON countersign.sign_off (exception_id);

-- Effects, each at most once for an exception. `effect_no` counts over all kinds of effects in the order they took place.
CREATE SEQUENCE countersign.effect_no;
CREATE TABLE countersign.posting (
    exception_id   bigint      PRIMARY KEY,
    effect_no      bigint      NOT NULL,
    ledger_entity  text        NOT NULL,
    currency       text        NOT NULL,
    amount         numeric     NOT NULL,
    posted_at      timestamptz NOT NULL
);
CREATE TABLE countersign.routing (
    exception_id  bigint      PRIMARY KEY,
    effect_no     bigint      NOT NULL,
    routed_to     text        NOT NULL,
    reason        text,
    routed_at     timestamptz NOT NULL
);

-- Arrivals that passed no gate, with their original bytes. An original over the line limit is kept in part; its size and hash
-- are those of the whole.
CREATE TABLE countersign.dead_letter (
    id               bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    original_hash    bytea       NOT NULL UNIQUE,
    original         bytea       NOT NULL,
    original_size    bigint      NOT NULL,
    origin           text        NOT NULL,
    line             bigint,
    code             text        NOT NULL,
    class            text        NOT NULL,
    field            text,
    reason           text        NOT NULL,
    idempotency_key  text,
    first_at         timestamptz NOT NULL,
    last_at          timestamptz NOT NULL,
    times            integer     NOT NULL DEFAULT 1
);

-- The audit stream: append-only, one hash chain for each partition and one, with the key '', for everything else.
CREATE TABLE countersign.audit_event (
    partition_key   text        NOT NULL,
    chain_seq       bigint      NOT NULL,
    at              timestamptz NOT NULL,
    event           text        NOT NULL,
    actor           text        NOT NULL,
    workstation     uuid,
    exception_id    bigint,
    trace_id        uuid,
    source_hash     text,
    match_decision  text,
    content_hash    bytea,
    outcome         text,
    detail          jsonb,
    chain_hash      bytea       NOT NULL,
    PRIMARY KEY (partition_key, chain_seq)
);

CREATE FUNCTION countersign.append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'countersign.% is append-only', TG_TABLE_NAME USING ERRCODE = 'insufficient_privilege';
END $$;
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON countersign.audit_event EXECUTE FUNCTION countersign.append_only();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON countersign.sign_off EXECUTE FUNCTION countersign.append_only();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON countersign.posting EXECUTE FUNCTION countersign.append_only();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON countersign.routing EXECUTE FUNCTION countersign.append_only();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON countersign.exception_content EXECUTE FUNCTION countersign.append_only();
CREATE TRIGGER keep BEFORE DELETE OR TRUNCATE ON countersign.dead_letter EXECUTE FUNCTION countersign.append_only();
CREATE TRIGGER keep BEFORE DELETE OR TRUNCATE ON countersign.exception EXECUTE FUNCTION countersign.append_only();
