-- What is pending, kept beside the exceptions as they come and go: for the claim with a focus, and for the overview.

SET LOCAL ROLE countersign_owner;

-- What the overview has a line for. Rows are only ever added.
CREATE TABLE countersign.backlog_class (
    id             integer  GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    ledger_entity  text     NOT NULL,
    kind           text     NOT NULL,
    routing_tier   text     NOT NULL,
    currency       text     NOT NULL,
    UNIQUE (ledger_entity, kind, routing_tier, currency)
);
CREATE INDEX backlog_class_kind ON countersign.backlog_class (kind, routing_tier, currency, ledger_entity);

-- Where an absolute amount stands among the orders of magnitude: ten times the number of digits before the point, and the first of
-- them. A larger amount never has a smaller band.
CREATE FUNCTION countersign.band(amount numeric) RETURNS smallint LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN abs(amount) < 1 THEN 0 ELSE length(trunc(abs(amount))::text) * 10 + left(trunc(abs(amount))::text, 1)::integer END;


-- Where the band of an amount ends: what is larger is of another one.
CREATE FUNCTION countersign.band_end(amount numeric) RETURNS numeric LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN abs(amount) < 1 THEN 1 WHEN amount = 'infinity' THEN amount
    ELSE (left(trunc(abs(amount))::text, 1)::integer + 1) * 10::numeric ^ (length(trunc(abs(amount))::text) - 1) END;

-- `line` names what exceptions of one partition have in common as far as a focus can tell. An index over it finds the few that match
-- in a partition of many. What it is made of does not change by deciding, so that deciding
-- an item touches no index still.
ALTER TABLE countersign.exception ADD line uuid NOT NULL GENERATED ALWAYS AS (
    md5(length(ledger_entity)::text || E'\n' || ledger_entity || E'\n' || kind || E'\n' || routing_tier || E'\n' || currency || E'\n'
        || countersign.band(variance_amount)::text
        || E'\n' || coalesce(due_on - date '2000-01-01', -1000000)::text || E'\n' || counterparty)::uuid) STORED;
CREATE INDEX exception_line ON countersign.exception (partition_key, line, seq, abs(variance_amount));

-- What is pending in a partition, by all that a focus looks at; gone when nothing of it is pending any more. It changes under the
-- lock of its partition's row, and not when the partition is leased or given back.
--   class: of `backlog_class`, whose columns are repeated here.
--   least, largest: of their absolute variances, all of one band; of those that are decided too, so that they may be too far apart.
--   claim_rank: of the first of them that arrived here; it may be of one that is decided, never later than the earliest.
--   shut_out: as on the partition.
CREATE TABLE countersign.pending_line (
    partition_key  text         NOT NULL,
    line           uuid         NOT NULL,
    class          integer      NOT NULL,
    ledger_entity  text         NOT NULL,
    kind           text         NOT NULL,
    routing_tier   text         NOT NULL,
    currency       text         NOT NULL,
    counterparty   uuid         NOT NULL,
    least          numeric      NOT NULL,
    largest        numeric      NOT NULL,
    due_on         date,
    pending        integer      NOT NULL CHECK (pending > 0),
    amount         numeric      NOT NULL,
    claim_rank     timestamptz  NOT NULL,
    shut_out       text[]       NOT NULL,
    PRIMARY KEY (partition_key, line)
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02);

-- What came and went, one row for each class and statement, added and never changed: signers wait for nobody. Whoever reads adds
-- them up, and moves them to the sums below when nobody else does. `slot` is the quarter of an hour, which is what the time zones of
-- the world differ by.
CREATE TABLE countersign.backlog_delta (
    class     integer      NOT NULL,
    slot      timestamptz  NOT NULL,
    reviewer  text,
    pending   integer      NOT NULL,
    amount    numeric      NOT NULL,
    arrived   integer      NOT NULL,
    decided   integer      NOT NULL,
    signed    integer      NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0.1);
CREATE TABLE countersign.backlog_total (
    class    integer  PRIMARY KEY,
    pending  bigint   NOT NULL,
    amount   numeric  NOT NULL
) WITH (fillfactor = 50);
CREATE TABLE countersign.backlog_progress (
    slot     timestamptz  NOT NULL,
    class    integer      NOT NULL,
    arrived  bigint       NOT NULL,
    decided  bigint       NOT NULL,
    PRIMARY KEY (slot, class)
) WITH (fillfactor = 70);
CREATE TABLE countersign.backlog_signed (
    slot      timestamptz  NOT NULL,
    class     integer      NOT NULL,
    reviewer  text         NOT NULL,
    signed    bigint       NOT NULL,
    PRIMARY KEY (slot, class, reviewer)
) WITH (fillfactor = 70);

CREATE FUNCTION countersign.slot(at timestamptz) RETURNS timestamptz LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN date_bin('15 minutes', at, '2000-01-01Z');

-- Names the advisory lock of whoever adds up: "backlog" in ASCII.
CREATE FUNCTION countersign.merge_lock() RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN 27692312992806759;

-- Adds what arrived. The classes come first, in their order, so that two calls that add some wait for each other one way round.
CREATE FUNCTION countersign.pending_arrived() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET jit = off AS $$
BEGIN
    INSERT INTO countersign.backlog_class (ledger_entity, kind, routing_tier, currency)
    SELECT DISTINCT e.ledger_entity, e.kind, e.routing_tier, e.currency FROM arrived e
    WHERE e.state = 'PENDING' AND NOT EXISTS (
        SELECT 1 FROM countersign.backlog_class c
        WHERE c.ledger_entity = e.ledger_entity AND c.kind = e.kind AND c.routing_tier = e.routing_tier AND c.currency = e.currency)
    ORDER BY 1, 2, 3, 4 ON CONFLICT DO NOTHING;
    WITH line AS MATERIALIZED (
        SELECT e.partition_key, e.line, c.id AS class, c.ledger_entity, c.kind, c.routing_tier, c.currency, e.counterparty, e.due_on,
               count(*) AS pending, sum(abs(e.variance_amount)) AS amount,
               min(abs(e.variance_amount)) AS least, max(abs(e.variance_amount)) AS largest,
               min(countersign.claim_rank(e.submitted_at, e.routing_tier)) AS claim_rank
        FROM arrived e JOIN countersign.backlog_class c
          ON c.ledger_entity = e.ledger_entity AND c.kind = e.kind AND c.routing_tier = e.routing_tier AND c.currency = e.currency
        WHERE e.state = 'PENDING' GROUP BY e.partition_key, e.line, c.id, e.counterparty, e.due_on
    ), added AS (
        INSERT INTO countersign.pending_line AS l (partition_key, line, class, ledger_entity, kind, routing_tier, currency, counterparty,
            least, largest, due_on, pending, amount, claim_rank, shut_out)
        SELECT n.partition_key, n.line, n.class, n.ledger_entity, n.kind, n.routing_tier, n.currency, md5(n.counterparty)::uuid,
               n.least, n.largest, n.due_on, n.pending, n.amount, n.claim_rank,
               coalesce((SELECT p.shut_out FROM countersign.partition p WHERE p.partition_key = n.partition_key), '{}')
        FROM line n ORDER BY n.partition_key, n.line
        ON CONFLICT (partition_key, line) DO UPDATE SET
            pending = l.pending + excluded.pending, amount = l.amount + excluded.amount,
            least = least(l.least, excluded.least), largest = greatest(l.largest, excluded.largest), claim_rank = least(l.claim_rank, excluded.claim_rank)
    )
    INSERT INTO countersign.backlog_delta (class, slot, pending, amount, arrived, decided, signed)
    SELECT n.class, countersign.slot(clock_timestamp()), sum(n.pending), sum(n.amount), sum(n.pending), 0, 0 FROM line n GROUP BY n.class ORDER BY n.class;
    RETURN NULL;
END $$;

-- Takes off what was decided, counts who signed, and moves what was corrected. A class that an exception leaves by a correction has
-- one arrival less, so that arrivals less decisions are what is pending.
CREATE FUNCTION countersign.pending_changed() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET jit = off SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off AS $$
DECLARE
    v_moved boolean;
BEGIN
    -- FULL, and without a condition that would turn it into less, for its plan alone: two lists are compared by hash, however short
    -- they seemed when the plan was made.
    WITH pair AS MATERIALIZED (
        SELECT o.state = 'PENDING' AND n.state = 'PENDING' AND (n.line <> o.line OR n.variance_amount <> o.variance_amount) AS moved
        FROM before o FULL JOIN after n ON n.id = o.id
    )
    SELECT bool_or(b.moved) INTO v_moved FROM pair b;
    IF v_moved THEN
        INSERT INTO countersign.backlog_class (ledger_entity, kind, routing_tier, currency)
        SELECT DISTINCT e.ledger_entity, e.kind, e.routing_tier, e.currency FROM after e
        WHERE e.state = 'PENDING' AND NOT EXISTS (
            SELECT 1 FROM countersign.backlog_class c
            WHERE c.ledger_entity = e.ledger_entity AND c.kind = e.kind AND c.routing_tier = e.routing_tier AND c.currency = e.currency)
        ORDER BY 1, 2, 3, 4 ON CONFLICT DO NOTHING;
    END IF;
    WITH change AS MATERIALIZED (
        SELECT o.state = 'PENDING' AS was_pending, o.partition_key, o.line, abs(o.variance_amount) AS amount, n.state <> 'PENDING' AS decided,
               CASE WHEN n.state <> 'PENDING' THEN n.decided_by WHEN o.first_by IS NULL THEN n.first_by END AS signer,
               n.state <> 'PENDING' OR n.line <> o.line OR n.variance_amount <> o.variance_amount AS leaves
        FROM before o FULL JOIN after n ON n.id = o.id
    ), line AS MATERIALIZED (
        SELECT c.partition_key, c.line, count(*) FILTER (WHERE c.leaves) AS leave, coalesce(sum(c.amount) FILTER (WHERE c.leaves), 0) AS amount,
               count(*) FILTER (WHERE c.decided) AS decided, count(*) FILTER (WHERE c.signer IS NOT NULL) AS signed, min(c.signer) AS signer
        FROM change c WHERE c.was_pending AND (c.leaves OR c.signer IS NOT NULL) GROUP BY c.partition_key, c.line
    ), found AS MATERIALIZED (
        SELECT n.*, l.class, l.pending FROM line n CROSS JOIN LATERAL (
            SELECT l.class, l.pending FROM countersign.pending_line l WHERE l.partition_key = n.partition_key AND l.line = n.line LIMIT 1) AS l
    ), gone AS (
        DELETE FROM countersign.pending_line l USING found f
        WHERE l.partition_key = f.partition_key AND l.line = f.line AND f.leave > 0 AND f.pending <= f.leave
    ), fewer AS (
        UPDATE countersign.pending_line l SET pending = l.pending - f.leave, amount = l.amount - f.amount
        FROM found f WHERE l.partition_key = f.partition_key AND l.line = f.line AND f.leave > 0 AND f.pending > f.leave
    )
    INSERT INTO countersign.backlog_delta (class, slot, reviewer, pending, amount, arrived, decided, signed)
    SELECT f.class, countersign.slot(clock_timestamp()), f.signer, -sum(f.leave), -sum(f.amount), -sum(f.leave - f.decided), sum(f.decided), sum(f.signed)
    FROM found f GROUP BY f.class, f.signer;
    IF v_moved THEN
        WITH pair AS MATERIALIZED (
            SELECT n.*, o.state AS old_state, o.line AS old_line, o.variance_amount AS old_amount FROM before o FULL JOIN after n ON n.id = o.id
        ), line AS MATERIALIZED (
            SELECT n.partition_key, n.line, c.id AS class, c.ledger_entity, c.kind, c.routing_tier, c.currency, n.counterparty, n.due_on,
               count(*) AS pending, sum(abs(n.variance_amount)) AS amount,
                   min(abs(n.variance_amount)) AS least, max(abs(n.variance_amount)) AS largest,
               min(countersign.claim_rank(n.submitted_at, n.routing_tier)) AS claim_rank
            FROM pair n JOIN countersign.backlog_class c
              ON c.ledger_entity = n.ledger_entity AND c.kind = n.kind AND c.routing_tier = n.routing_tier AND c.currency = n.currency
            WHERE n.old_state = 'PENDING' AND n.state = 'PENDING' AND (n.line <> n.old_line OR n.variance_amount <> n.old_amount)
            GROUP BY n.partition_key, n.line, c.id, n.counterparty, n.due_on
        ), added AS (
            INSERT INTO countersign.pending_line AS l (partition_key, line, class, ledger_entity, kind, routing_tier, currency, counterparty,
            least, largest, due_on, pending, amount, claim_rank, shut_out)
            SELECT n.partition_key, n.line, n.class, n.ledger_entity, n.kind, n.routing_tier, n.currency, md5(n.counterparty)::uuid,
               n.least, n.largest, n.due_on, n.pending, n.amount, n.claim_rank,
                   coalesce((SELECT p.shut_out FROM countersign.partition p WHERE p.partition_key = n.partition_key), '{}')
            FROM line n ORDER BY n.partition_key, n.line
            ON CONFLICT (partition_key, line) DO UPDATE SET
                pending = l.pending + excluded.pending, amount = l.amount + excluded.amount,
            least = least(l.least, excluded.least), largest = greatest(l.largest, excluded.largest), claim_rank = least(l.claim_rank, excluded.claim_rank)
        )
        INSERT INTO countersign.backlog_delta (class, slot, pending, amount, arrived, decided, signed)
        SELECT n.class, countersign.slot(clock_timestamp()), sum(n.pending), sum(n.amount), sum(n.pending), 0, 0 FROM line n GROUP BY n.class;
    END IF;
    RETURN NULL;
END $$;

CREATE FUNCTION countersign.pending_shut_out() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    UPDATE countersign.pending_line l SET shut_out = NEW.shut_out WHERE l.partition_key = NEW.partition_key AND l.shut_out <> NEW.shut_out;
    RETURN NULL;
END $$;

-- Makes all of it anew from the exceptions: after a repair by hand, or when `countersign-admin status` says that it differs. Nothing
-- is decided and nothing arrives meanwhile. Says how many are pending, and for how many classes it said something else before.
CREATE FUNCTION countersign.recount(OUT pending bigint, OUT differed bigint) LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET jit = off AS $$
#variable_conflict use_column
DECLARE
    v_since timestamptz := countersign.slot(clock_timestamp()) - interval '15 days';
BEGIN
    PERFORM countersign.read_committed();
    LOCK TABLE countersign.partition, countersign.exception IN SHARE ROW EXCLUSIVE MODE;
    PERFORM pg_advisory_xact_lock(countersign.merge_lock());
    WITH said AS (
        SELECT s.class, sum(s.pending) AS pending, sum(s.amount) AS amount
        FROM (SELECT t.class, t.pending, t.amount FROM countersign.backlog_total t UNION ALL SELECT d.class, d.pending, d.amount FROM countersign.backlog_delta d) AS s
        GROUP BY s.class HAVING sum(s.pending) <> 0 OR sum(s.amount) <> 0
    ), counted AS (
        SELECT c.id AS class, count(*) AS pending, sum(abs(e.variance_amount)) AS amount
        FROM countersign.exception e JOIN countersign.backlog_class c
          ON c.ledger_entity = e.ledger_entity AND c.kind = e.kind AND c.routing_tier = e.routing_tier AND c.currency = e.currency
        WHERE e.state = 'PENDING' GROUP BY c.id
    )
    SELECT count(*) INTO differed FROM said s FULL JOIN counted t ON t.class = s.class
    WHERE (s.pending, s.amount) IS DISTINCT FROM (t.pending, t.amount);
    DELETE FROM countersign.pending_line;
    DELETE FROM countersign.backlog_delta;
    DELETE FROM countersign.backlog_total;
    DELETE FROM countersign.backlog_progress;
    DELETE FROM countersign.backlog_signed;
    INSERT INTO countersign.backlog_class (ledger_entity, kind, routing_tier, currency)
    SELECT DISTINCT e.ledger_entity, e.kind, e.routing_tier, e.currency FROM countersign.exception e ORDER BY 1, 2, 3, 4 ON CONFLICT DO NOTHING;
    INSERT INTO countersign.pending_line (partition_key, line, class, ledger_entity, kind, routing_tier, currency, counterparty,
        least, largest, due_on, pending, amount, claim_rank, shut_out)
    SELECT e.partition_key, e.line, c.id, c.ledger_entity, c.kind, c.routing_tier, c.currency, md5(e.counterparty)::uuid, min(abs(e.variance_amount)), max(abs(e.variance_amount)), e.due_on, count(*),
           sum(abs(e.variance_amount)), min(countersign.claim_rank(e.submitted_at, e.routing_tier)), p.shut_out
    FROM countersign.exception e JOIN countersign.partition p ON p.partition_key = e.partition_key
    JOIN countersign.backlog_class c ON c.ledger_entity = e.ledger_entity AND c.kind = e.kind AND c.routing_tier = e.routing_tier AND c.currency = e.currency
    WHERE e.state = 'PENDING' GROUP BY e.partition_key, e.line, c.id, e.counterparty, e.due_on, p.shut_out;
    INSERT INTO countersign.backlog_total (class, pending, amount)
    SELECT l.class, sum(l.pending), sum(l.amount) FROM countersign.pending_line l GROUP BY l.class;
    INSERT INTO countersign.backlog_progress (slot, class, arrived, decided)
    SELECT x.slot, c.id, sum(x.arrived), sum(x.decided)
    FROM (SELECT countersign.slot(e.arrived_at), e.ledger_entity, e.kind, e.routing_tier, e.currency, 1, 0 FROM countersign.exception e WHERE e.arrived_at >= v_since
          UNION ALL
          SELECT countersign.slot(e.decided_at), e.ledger_entity, e.kind, e.routing_tier, e.currency, 0, 1 FROM countersign.exception e WHERE e.decided_at >= v_since)
         AS x (slot, ledger_entity, kind, routing_tier, currency, arrived, decided)
    JOIN countersign.backlog_class c ON c.ledger_entity = x.ledger_entity AND c.kind = x.kind AND c.routing_tier = x.routing_tier AND c.currency = x.currency
    GROUP BY x.slot, c.id;
    INSERT INTO countersign.backlog_signed (slot, class, reviewer, signed)
    SELECT countersign.slot(s.signed_at), c.id, s.reviewer, count(*)
    FROM countersign.sign_off s JOIN countersign.exception e ON e.id = s.exception_id
    JOIN countersign.backlog_class c ON c.ledger_entity = e.ledger_entity AND c.kind = e.kind AND c.routing_tier = e.routing_tier AND c.currency = e.currency
    WHERE s.signed_at >= v_since GROUP BY 1, 2, 3;
    SELECT coalesce(sum(t.pending), 0) INTO pending FROM countersign.backlog_total t;
END $$;

SELECT countersign.recount();

-- A claim goes from class to class and, in each, in the order of the rank; or from counterparty to class; or by amount and due date.
CREATE INDEX pending_line_class ON countersign.pending_line (class, shut_out, claim_rank, partition_key);
CREATE INDEX pending_line_counterparty ON countersign.pending_line (counterparty, class, shut_out, claim_rank, partition_key);
CREATE INDEX pending_line_amount ON countersign.pending_line (class, largest, due_on);
CREATE INDEX pending_line_due ON countersign.pending_line (class, due_on, largest);

CREATE TRIGGER pending_arrived AFTER INSERT ON countersign.exception REFERENCING NEW TABLE AS arrived
    FOR EACH STATEMENT EXECUTE FUNCTION countersign.pending_arrived();
CREATE TRIGGER pending_changed AFTER UPDATE ON countersign.exception REFERENCING OLD TABLE AS before NEW TABLE AS after
    FOR EACH STATEMENT EXECUTE FUNCTION countersign.pending_changed();
CREATE TRIGGER pending_shut_out AFTER UPDATE OF shut_out ON countersign.partition
    FOR EACH ROW WHEN (NEW.shut_out <> OLD.shut_out) EXECUTE FUNCTION countersign.pending_shut_out();
CREATE TRIGGER pending_shut_out_first AFTER INSERT ON countersign.partition
    FOR EACH ROW WHEN (NEW.shut_out <> '{}') EXECUTE FUNCTION countersign.pending_shut_out();

RESET ROLE;
