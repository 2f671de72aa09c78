-- What reviewers look up. Nothing is decided by it, and nobody sees more than what they may sign.

SET LOCAL ROLE countersign_owner;

CREATE INDEX audit_event_exception ON countersign.audit_event (exception_id, chain_seq) WHERE exception_id IS NOT NULL;
CREATE INDEX exception_counterparty ON countersign.exception (ledger_entity, (md5(counterparty)::uuid), id);

-- Moves what came and went to the sums, at most 50,000 rows of it; whoever comes at the same time leaves it to the first. Reading adds
-- both up, so that it changes no answer.
CREATE FUNCTION countersign.merge_backlog() RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NOT pg_try_advisory_xact_lock(countersign.merge_lock()) THEN
        RETURN;
    END IF;
    WITH gone AS (
        DELETE FROM countersign.backlog_delta d WHERE d.ctid = ANY (ARRAY(SELECT x.ctid FROM countersign.backlog_delta x LIMIT 50000))
        RETURNING d.class, d.slot, d.reviewer, d.pending, d.amount, d.arrived, d.decided, d.signed
    ), total AS (
        INSERT INTO countersign.backlog_total AS t (class, pending, amount)
        SELECT g.class, sum(g.pending), sum(g.amount) FROM gone g GROUP BY g.class ORDER BY g.class
        ON CONFLICT (class) DO UPDATE SET pending = t.pending + excluded.pending, amount = t.amount + excluded.amount
    ), progress AS (
        INSERT INTO countersign.backlog_progress AS t (slot, class, arrived, decided)
        SELECT g.slot, g.class, sum(g.arrived), sum(g.decided) FROM gone g GROUP BY g.slot, g.class HAVING sum(g.arrived) <> 0 OR sum(g.decided) <> 0
        ON CONFLICT (slot, class) DO UPDATE SET arrived = t.arrived + excluded.arrived, decided = t.decided + excluded.decided
    )
    INSERT INTO countersign.backlog_signed AS t (slot, class, reviewer, signed)
    SELECT g.slot, g.class, g.reviewer, sum(g.signed) FROM gone g WHERE g.reviewer IS NOT NULL AND g.signed > 0 GROUP BY g.slot, g.class, g.reviewer
    ON CONFLICT (slot, class, reviewer) DO UPDATE SET signed = t.signed + excluded.signed;
    -- Nobody asks for more than 336 hours.
    DELETE FROM countersign.backlog_progress p WHERE p.slot < clock_timestamp() - interval '15 days';
    DELETE FROM countersign.backlog_signed s WHERE s.slot < clock_timestamp() - interval '15 days';
END $$;

-- Which classes somebody may look at: those they may sign.
CREATE FUNCTION countersign.classes_of(p_who countersign.authority) RETURNS SETOF countersign.backlog_class
LANGUAGE plpgsql STABLE ROWS 200 SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN QUERY SELECT c.* FROM countersign.backlog_class c
    WHERE coalesce(c.kind = ANY (p_who.kinds), true) AND coalesce(c.routing_tier = ANY (p_who.tiers), true)
      AND coalesce(c.ledger_entity = ANY (p_who.ledger_entities), true);
END $$;

-- What is pending, by entity, kind, tier and currency: at most 2,000 lines, and how many more there are. Held is what is under a lease
-- that has not run out; of these `mine` are the caller's. One row; none for whoever is turned away.
CREATE FUNCTION countersign.overview(p_workstation uuid) RETURNS TABLE (at timestamptz, lines jsonb, more integer)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET jit = off AS $$
#variable_conflict use_column
DECLARE
    v_me text;
    v_who countersign.authority;
    v_now timestamptz;
BEGIN
    PERFORM countersign.read_committed();
    IF countersign.turned_away(p_workstation, 'overview') THEN
        RETURN;
    END IF;
    v_me := countersign.caller(p_workstation);
    v_who := countersign.authority_of(v_me);
    PERFORM countersign.merge_backlog();
    v_now := clock_timestamp();
    RETURN QUERY
    WITH seen AS MATERIALIZED (
        SELECT * FROM countersign.classes_of(v_who)
    ), held AS MATERIALIZED (
        SELECT l.class, sum(l.pending) AS held, sum(l.amount) AS held_amount, coalesce(sum(l.pending) FILTER (WHERE p.holder_reviewer = v_me), 0) AS mine
        FROM countersign.partition p CROSS JOIN LATERAL (
            SELECT l.class, l.pending, l.amount FROM countersign.pending_line l WHERE l.partition_key = p.partition_key) AS l
        WHERE p.lease_until >= v_now GROUP BY l.class
    ), line AS MATERIALIZED (
        SELECT s.ledger_entity, s.kind, s.routing_tier, s.currency, t.pending - coalesce(h.held, 0) AS free, t.amount - coalesce(h.held_amount, 0) AS free_amount,
               coalesce(h.held, 0) AS held, coalesce(h.held_amount, 0) AS held_amount, coalesce(h.mine, 0) AS mine
        FROM (SELECT x.class, sum(x.pending) AS pending, sum(x.amount) AS amount
              FROM (SELECT t.class, t.pending, t.amount FROM countersign.backlog_total t
                    UNION ALL SELECT d.class, d.pending, d.amount FROM countersign.backlog_delta d) AS x
              GROUP BY x.class HAVING sum(x.pending) > 0) AS t
        JOIN seen s ON s.id = t.class LEFT JOIN held h ON h.class = t.class
    )
    SELECT v_now, coalesce((
               SELECT jsonb_agg(jsonb_build_object('entity', l.ledger_entity, 'kind', l.kind, 'tier', l.routing_tier, 'currency', l.currency, 'free', l.free,
                          'free_amount', l.free_amount::text, 'held', l.held, 'held_amount', l.held_amount::text, 'mine', l.mine)
                          ORDER BY l.ledger_entity, l.kind, l.routing_tier, l.currency)
               FROM (SELECT * FROM line l ORDER BY l.ledger_entity, l.kind, l.routing_tier, l.currency LIMIT 2000) AS l), '[]'),
           greatest((SELECT count(*) FROM line) - 2000, 0)::integer;
END $$;

-- How far the close is: what is left of each entity and tier, with the signatures accepted since a moment (taken at its quarter of an
-- hour, and at most 15 days ago), and the last hours, at most 336, oldest first, the last one not over yet.
CREATE FUNCTION countersign.close_overview(p_workstation uuid, p_since timestamptz) RETURNS TABLE (at timestamptz, lines jsonb, hours jsonb)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET jit = off SET timezone = 'UTC' AS $$
#variable_conflict use_column
DECLARE
    v_me text;
    v_who countersign.authority;
    v_now timestamptz;
    v_hour timestamptz;
BEGIN
    PERFORM countersign.read_committed();
    IF (p_since BETWEEN '1970-01-01Z' AND '9999-12-31Z') IS NOT TRUE THEN
        RAISE EXCEPTION 'close_overview: a moment of the years 1970 to 9999 is expected' USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF countersign.turned_away(p_workstation, 'close_overview') THEN
        RETURN;
    END IF;
    v_me := countersign.caller(p_workstation);
    v_who := countersign.authority_of(v_me);
    PERFORM countersign.merge_backlog();
    v_now := clock_timestamp();
    v_hour := date_trunc('hour', v_now);
    RETURN QUERY
    WITH seen AS MATERIALIZED (
        SELECT * FROM countersign.classes_of(v_who)
    ), pending AS MATERIALIZED (
        SELECT x.class, sum(x.pending) AS pending
        FROM (SELECT t.class, t.pending FROM countersign.backlog_total t UNION ALL SELECT d.class, d.pending FROM countersign.backlog_delta d) AS x
        GROUP BY x.class
    ), held AS MATERIALIZED (
        SELECT l.class, sum(l.pending) AS held FROM countersign.partition p CROSS JOIN LATERAL (
            SELECT l.class, l.pending FROM countersign.pending_line l WHERE l.partition_key = p.partition_key) AS l
        WHERE p.lease_until >= v_now GROUP BY l.class
    ), signed AS MATERIALIZED (
        SELECT x.class, sum(x.signed) AS signed, coalesce(sum(x.signed) FILTER (WHERE x.reviewer = v_me), 0) AS mine
        FROM (SELECT s.class, s.reviewer, s.signed FROM countersign.backlog_signed s WHERE s.slot >= countersign.slot(p_since)
              UNION ALL
              SELECT d.class, d.reviewer, d.signed FROM countersign.backlog_delta d WHERE d.reviewer IS NOT NULL AND d.slot >= countersign.slot(p_since)) AS x
        GROUP BY x.class
    ), line AS MATERIALIZED (
        SELECT s.ledger_entity, s.routing_tier, coalesce(sum(p.pending), 0) AS "left", coalesce(sum(h.held), 0) AS held, coalesce(sum(g.signed), 0) AS signed,
               coalesce(sum(g.mine), 0) AS mine
        FROM seen s LEFT JOIN pending p ON p.class = s.id LEFT JOIN held h ON h.class = s.id LEFT JOIN signed g ON g.class = s.id
        GROUP BY s.ledger_entity, s.routing_tier HAVING coalesce(sum(p.pending), 0) > 0 OR coalesce(sum(g.signed), 0) > 0
    ), moved AS MATERIALIZED (
        SELECT date_trunc('hour', x.slot) AS hour, sum(x.arrived) AS arrived, sum(x.decided) AS decided
        FROM (SELECT p.slot, p.class, p.arrived, p.decided FROM countersign.backlog_progress p WHERE p.slot >= v_hour - interval '335 hours'
              UNION ALL
              SELECT d.slot, d.class, d.arrived, d.decided FROM countersign.backlog_delta d WHERE d.slot >= v_hour - interval '335 hours') AS x
        JOIN seen s ON s.id = x.class GROUP BY 1
    ), hour AS (
        SELECT h.hour, coalesce(m.arrived, 0) AS arrived, coalesce(m.decided, 0) AS decided,
               (SELECT coalesce(sum(l."left"), 0) FROM line l)
                   - coalesce(sum(m.arrived - m.decided) OVER (ORDER BY h.hour DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS "left"
        FROM generate_series(coalesce((SELECT min(m.hour) FROM moved m), v_hour), v_hour, interval '1 hour') AS h (hour)
        LEFT JOIN moved m ON m.hour = h.hour
    )
    SELECT v_now, coalesce((
               SELECT jsonb_agg(jsonb_build_object('entity', l.ledger_entity, 'tier', l.routing_tier, 'left', l."left", 'held', l.held, 'signed', l.signed, 'mine', l.mine)
                                ORDER BY l.ledger_entity, l.routing_tier)
               FROM (SELECT * FROM line l ORDER BY l.ledger_entity, l.routing_tier LIMIT 2000) AS l), '[]'),
           (SELECT jsonb_agg(jsonb_build_object('until', to_char(h.hour + interval '1 hour', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'),
                       'arrived', greatest(h.arrived, 0), 'decided', h.decided, 'left', greatest(h."left", 0)) ORDER BY h.hour)
            FROM hour h);
END $$;

-- Whether somebody may look closer at an exception from this workstation: it is in a partition leased to it and they may sign it, or
-- they signed it there.
CREATE FUNCTION countersign.may_look(p_workstation uuid, p_who countersign.authority, p_exception_id bigint) RETURNS boolean
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN EXISTS (
        SELECT 1 FROM countersign.sign_off s WHERE s.exception_id = p_exception_id AND s.workstation = p_workstation AND s.reviewer = p_who.login
    ) OR EXISTS (
        SELECT 1 FROM countersign.exception e JOIN countersign.partition p ON p.partition_key = e.partition_key
        WHERE e.id = p_exception_id AND p.holder = p_workstation AND p.holder_reviewer = p_who.login AND p.lease_until IS NOT NULL
          AND NOT countersign.closed_alone(p_who, e.barred, e.kind, e.routing_tier, e.ledger_entity, e.currency, e.variance_amount)
          AND (e.group_key IS NULL OR NOT countersign.closed_in_group(p_who, e.partition_key, e.group_key)));
END $$;

-- One record as a reviewer may see it. `hidden` leaves out who and what: while a second signature is awaited, nobody else is told who
-- gave the first one, nor what they decided.
CREATE FUNCTION countersign.past_event(at timestamptz, event text, actor text, outcome text, detail jsonb, hidden boolean) RETURNS jsonb
LANGUAGE sql STABLE PARALLEL SAFE
RETURN jsonb_build_object(
    'at', to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'event', event, 'actor', CASE WHEN hidden THEN '' ELSE actor END,
    'details', jsonb_strip_nulls(jsonb_build_object('version', detail ->> 'version')
        || CASE WHEN hidden THEN '{}' ELSE jsonb_build_object('outcome', outcome, 'decision', detail ->> 'decision', 'decided_by', detail ->> 'decided_by',
               'reviewer', detail ->> 'reviewer', 'from', detail ->> 'from', 'reason', detail ->> 'reason', 'lapsed', detail ->> 'lapsed') END));

-- What happened to an exception that is leased to this workstation or was signed on it: its own records (the last 100, oldest first),
-- the partition's latest 50, the latest 20 decisions on the counterparty at the entity, and what became of the counterparty's latest
-- 5,000 there.
CREATE FUNCTION countersign.history(p_workstation uuid, p_exception_id bigint)
RETURNS TABLE (at timestamptz, exception jsonb, partition jsonb, counterparty jsonb, approved integer, rejected integer, pending integer)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
    v_me text;
    v_who countersign.authority;
    v_item countersign.exception;
    v_hidden boolean;
BEGIN
    PERFORM countersign.read_committed();
    IF countersign.turned_away(p_workstation, 'history') THEN
        RETURN;
    END IF;
    v_me := countersign.caller(p_workstation);
    v_who := countersign.authority_of(v_me);
    IF NOT countersign.may_look(p_workstation, v_who, p_exception_id) THEN
        RAISE EXCEPTION 'the exception % is not leased to this workstation and was not signed on it', p_exception_id USING ERRCODE = 'invalid_parameter_value';
    END IF;
    SELECT * INTO STRICT v_item FROM countersign.exception e WHERE e.id = p_exception_id;
    -- Who held the partition when a first signature was given would tell whose it is: all names go.
    v_hidden := coalesce(v_item.state = 'PENDING' AND NOT countersign.names_of(v_item.first_by) && v_who.names, false) OR EXISTS (
        SELECT 1 FROM (SELECT a.exception_id, a.outcome FROM countersign.audit_event a WHERE a.partition_key = v_item.partition_key ORDER BY a.chain_seq DESC LIMIT 50) AS a
        CROSS JOIN LATERAL (SELECT e.first_by FROM countersign.exception e WHERE e.id = a.exception_id AND e.state = 'PENDING' AND e.first_by IS NOT NULL LIMIT 1) AS e
        WHERE a.outcome = 'AWAITING_SECOND' AND NOT countersign.names_of(e.first_by) && v_who.names);
    RETURN QUERY
    WITH other AS MATERIALIZED (
        SELECT e.state, e.decision, e.decided_by, e.decided_at, e.idempotency_key, e.currency, e.variance_amount
        FROM countersign.exception e
        WHERE e.ledger_entity = v_item.ledger_entity AND md5(e.counterparty)::uuid = md5(v_item.counterparty)::uuid
        ORDER BY e.id DESC LIMIT 5000
    )
    SELECT clock_timestamp(),
           coalesce((SELECT jsonb_agg(countersign.past_event(a.at, a.event, a.actor, a.outcome, a.detail,
                                a.actor <> v_me AND a.event NOT IN ('ARRIVED', 'CORRECTED') AND v_hidden) ORDER BY a.chain_seq)
                     FROM (SELECT a.* FROM countersign.audit_event a WHERE a.exception_id = p_exception_id AND a.partition_key = v_item.partition_key
                           ORDER BY a.chain_seq DESC LIMIT 100) AS a), '[]'),
           coalesce((SELECT jsonb_agg(countersign.past_event(a.at, a.event, a.actor, a.outcome, a.detail,
                                a.actor <> v_me AND a.event NOT IN ('ARRIVED', 'CORRECTED') AND v_hidden) ORDER BY a.chain_seq DESC)
                     FROM (SELECT a.* FROM countersign.audit_event a WHERE a.partition_key = v_item.partition_key ORDER BY a.chain_seq DESC LIMIT 50) AS a), '[]'),
           coalesce((SELECT jsonb_agg(jsonb_build_object('at', to_char(o.decided_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'event', 'DECIDED',
                                'actor', o.decided_by, 'details', jsonb_build_object('exception', o.idempotency_key, 'decision', o.decision,
                                    'amount', o.currency || ' ' || o.variance_amount::text)) ORDER BY o.decided_at DESC)
                     FROM (SELECT * FROM other o WHERE o.decision IS NOT NULL ORDER BY o.decided_at DESC LIMIT 20) AS o), '[]'),
           (SELECT count(*) FROM other o WHERE o.decision = 'APPROVE')::integer, (SELECT count(*) FROM other o WHERE o.decision = 'REJECT')::integer,
           (SELECT count(*) FROM other o WHERE o.state = 'PENDING')::integer;
END $$;

-- The picture of a receipt that is leased to this workstation or was signed on it. One row, of NULLs where there is no picture; none
-- for whoever is turned away.
CREATE FUNCTION countersign.picture_of(p_workstation uuid, p_exception_id bigint)
RETURNS TABLE (media_type text, bytes bytea, page_width integer, page_height integer)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_name text;
BEGIN
    PERFORM countersign.read_committed();
    IF countersign.turned_away(p_workstation, 'picture_of') THEN
        RETURN;
    END IF;
    IF NOT countersign.may_look(p_workstation, countersign.authority_of(countersign.caller(p_workstation)), p_exception_id) THEN
        RAISE EXCEPTION 'the exception % is not leased to this workstation and was not signed on it', p_exception_id USING ERRCODE = 'invalid_parameter_value';
    END IF;
    SELECT c.body::jsonb -> 'payload' ->> 'image' INTO v_name
    FROM countersign.exception e JOIN countersign.exception_content c ON c.exception_id = e.id AND c.version = e.version WHERE e.id = p_exception_id;
    RETURN QUERY SELECT p.media_type, p.bytes, p.page_width, p.page_height FROM (SELECT 1) AS one LEFT JOIN countersign.picture p ON p.name = v_name;
END $$;

RESET ROLE;
