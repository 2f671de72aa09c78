-- Leases with a focus: what a reviewer asked for, and as soon as without.

SET LOCAL ROLE countersign_owner;

-- What is wanted. NULL lets everything through. `counterparty_ids` are the counterparties as `pending_line` names them.
CREATE TYPE countersign.focus AS (
    entities text[], kinds text[], tiers text[], counterparties text[], counterparty_ids uuid[], currencies text[],
    amount_from numeric, amount_to numeric, due_from date, due_to date
);

-- Reads a focus as a workstation sends it; NULL if it lets everything through. `at_most` is the workstation's own business.
CREATE FUNCTION countersign.read_focus(p_focus jsonb) RETURNS countersign.focus LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp SET datestyle = 'ISO, YMD' AS $$
DECLARE
    v_focus countersign.focus;
    v_field text;
    v_list text[];
BEGIN
    IF p_focus IS NULL OR jsonb_typeof(p_focus) = 'null' THEN
        RETURN NULL;
    END IF;
    IF jsonb_typeof(p_focus) <> 'object' THEN
        RAISE EXCEPTION 'focus: an object is expected' USING ERRCODE = 'invalid_parameter_value';
    END IF;
    SELECT k INTO v_field FROM jsonb_object_keys(p_focus) AS k
    WHERE k NOT IN ('entities', 'kinds', 'tiers', 'counterparties', 'currencies', 'amount_from', 'amount_to', 'due_from', 'due_to', 'at_most') LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'focus: there is no field %', left(v_field, 60) USING ERRCODE = 'invalid_parameter_value';
    END IF;
    FOREACH v_field IN ARRAY ARRAY['entities', 'kinds', 'tiers', 'counterparties', 'currencies'] LOOP
        CONTINUE WHEN coalesce(jsonb_typeof(p_focus -> v_field), 'null') = 'null' OR p_focus -> v_field = '[]';
        IF (jsonb_typeof(p_focus -> v_field) = 'array' AND jsonb_array_length(p_focus -> v_field) <= 100
            AND NOT EXISTS (SELECT 1 FROM jsonb_array_elements(p_focus -> v_field) AS x WHERE jsonb_typeof(x) <> 'string' OR length(x #>> '{}') > 1000)) IS NOT TRUE THEN
            RAISE EXCEPTION 'focus: % is a list of at most 100 names', v_field USING ERRCODE = 'invalid_parameter_value';
        END IF;
        v_list := ARRAY(SELECT DISTINCT x FROM jsonb_array_elements_text(p_focus -> v_field) AS x ORDER BY x);
        IF v_field = 'kinds' AND NOT v_list <@ ARRAY['recon_break', 'sales_claim', 'receipt'] THEN
            RAISE EXCEPTION 'focus: kinds are recon_break, sales_claim and receipt' USING ERRCODE = 'invalid_parameter_value';
        ELSIF v_field = 'tiers' AND NOT v_list <@ ARRAY['standard', 'priority', 'escalated'] THEN
            RAISE EXCEPTION 'focus: tiers are standard, priority and escalated' USING ERRCODE = 'invalid_parameter_value';
        ELSIF v_field = 'currencies' AND EXISTS (SELECT 1 FROM unnest(v_list) AS x WHERE x !~ '^[A-Z]{3}$') THEN
            RAISE EXCEPTION 'focus: a currency has three capital letters' USING ERRCODE = 'invalid_parameter_value';
        END IF;
        CASE v_field
            WHEN 'entities' THEN v_focus.entities := v_list;
            WHEN 'kinds' THEN v_focus.kinds := v_list;
            WHEN 'tiers' THEN v_focus.tiers := v_list;
            WHEN 'currencies' THEN v_focus.currencies := v_list;
            ELSE v_focus.counterparties := v_list; v_focus.counterparty_ids := ARRAY(SELECT md5(x)::uuid FROM unnest(v_list) AS x);
        END CASE;
    END LOOP;
    FOREACH v_field IN ARRAY ARRAY['amount_from', 'amount_to'] LOOP
        IF coalesce(p_focus ->> v_field, '0') !~ '^[0-9]{1,28}([.][0-9]{1,28})?$' OR coalesce(jsonb_typeof(p_focus -> v_field), 'null') NOT IN ('string', 'null') THEN
            RAISE EXCEPTION 'focus: % is a decimal in a string, not negative', v_field USING ERRCODE = 'invalid_parameter_value';
        END IF;
    END LOOP;
    FOREACH v_field IN ARRAY ARRAY['due_from', 'due_to'] LOOP
        IF coalesce(p_focus ->> v_field, '2000-01-01') !~ '^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$' THEN
            RAISE EXCEPTION 'focus: % is a date such as 2026-10-05', v_field USING ERRCODE = 'invalid_parameter_value';
        END IF;
    END LOOP;
    v_focus.amount_from := (p_focus ->> 'amount_from')::numeric;
    v_focus.amount_to := (p_focus ->> 'amount_to')::numeric;
    v_focus.due_from := (p_focus ->> 'due_from')::date;
    v_focus.due_to := (p_focus ->> 'due_to')::date;
    IF v_focus.amount_from > v_focus.amount_to OR v_focus.due_from > v_focus.due_to THEN
        RAISE EXCEPTION 'focus: a range ends before it begins' USING ERRCODE = 'invalid_parameter_value';
    END IF;
    RETURN v_focus;
END $$;

-- What is pending in a partition from `p_from` on, inside the focus, and open to this person: at most `p_limit`, in the order of
-- `seq`.
CREATE FUNCTION countersign.matching(p_partition text, p_from bigint, p_limit integer, p_who countersign.authority, p_focus countersign.focus)
RETURNS TABLE (id bigint, seq bigint, version integer, group_key text) LANGUAGE sql STABLE ROWS 10
-- Without a path of its own, so that it becomes part of the statement that asks.
BEGIN ATOMIC
    SELECT e.* FROM countersign.pending_line l
    CROSS JOIN LATERAL (
        SELECT e.id, e.seq, e.version, e.group_key FROM countersign.exception e
        WHERE e.partition_key = l.partition_key AND e.line = l.line AND e.seq >= p_from AND e.state = 'PENDING'
          AND abs(e.variance_amount) >= coalesce((p_focus).amount_from, 0) AND abs(e.variance_amount) <= coalesce((p_focus).amount_to, 'infinity')
          AND NOT countersign.closed_alone(p_who, e.barred, e.kind, e.routing_tier, e.ledger_entity, e.currency, e.variance_amount)
          AND (e.group_key IS NULL OR NOT countersign.closed_in_group(p_who, e.partition_key, e.group_key))
        ORDER BY e.seq LIMIT p_limit) AS e
    WHERE l.partition_key = p_partition
      AND coalesce(l.largest >= (p_focus).amount_from, true) AND coalesce(l.least <= (p_focus).amount_to, true)
      AND coalesce(l.counterparty = ANY ((p_focus).counterparty_ids), true)
      AND ((p_focus).due_from IS NULL OR l.due_on >= (p_focus).due_from) AND ((p_focus).due_to IS NULL OR l.due_on <= (p_focus).due_to)
      AND coalesce(l.ledger_entity = ANY ((p_focus).entities), true) AND coalesce(l.kind = ANY ((p_focus).kinds), true)
      AND coalesce(l.routing_tier = ANY ((p_focus).tiers), true) AND coalesce(l.currency = ANY ((p_focus).currencies), true)
    ORDER BY e.seq LIMIT p_limit;
END;

DROP FUNCTION countersign.hand_out(text[], bigint[], integer, integer, boolean, countersign.authority);
-- What of these partitions this person may sign, from each cursor on, in the order of the partitions and of `seq`: about
-- `p_want` items, whole groups only. A group is handed out when it fits into `p_room`; one that can never fit only to a deck that
-- is empty (`p_empty`), or it would never be decided. A partition of which nothing is handed out appears once, without an item.
CREATE FUNCTION countersign.hand_out(p_keys text[], p_after bigint[], p_want integer, p_room integer, p_empty boolean, p_who countersign.authority,
                                     p_focus countersign.focus)
RETURNS TABLE (partition_key text, epoch bigint, lease_ms bigint, after_seq bigint, more boolean, exception_id bigint, seq bigint,
               version integer, content_hash bytea, body text, signatures integer, due_on date)
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
BEGIN
    IF p_focus IS NULL THEN
        RETURN QUERY
        WITH held AS MATERIALIZED (
            SELECT h.n, h.after, p.partition_key, p.epoch, p.head_seq,
                   (extract(epoch FROM p.lease_until - clock_timestamp()) * 1000)::bigint AS lease_ms
            FROM unnest(p_keys, p_after) WITH ORDINALITY AS h (key, after, n) JOIN countersign.partition p ON p.partition_key = h.key
        ), head AS MATERIALIZED (
            SELECT h.n, e.id, e.seq, e.version, e.group_key, h.partition_key
            FROM held h CROSS JOIN LATERAL (
                SELECT e.id, e.seq, e.version, e.group_key FROM countersign.exception e
                WHERE e.partition_key = h.partition_key AND e.seq >= greatest(h.head_seq, h.after + 1) AND e.state = 'PENDING'
                  AND NOT countersign.closed_alone(p_who, e.barred, e.kind, e.routing_tier, e.ledger_entity, e.currency, e.variance_amount)
                  AND (e.group_key IS NULL OR NOT countersign.closed_in_group(p_who, e.partition_key, e.group_key))
                ORDER BY e.seq LIMIT p_want) AS e
            ORDER BY h.n, e.seq LIMIT p_want
        ), whole AS (
            SELECT h.n, h.id, h.seq, h.version, h.group_key, CASE WHEN h.group_key IS NULL THEN h.id END AS alone FROM head h
            UNION ALL
            SELECT g.n, e.id, e.seq, e.version, g.group_key, NULL
            FROM (SELECT DISTINCT h.n, h.partition_key, h.group_key FROM head h WHERE h.group_key IS NOT NULL) AS g
            JOIN countersign.exception e ON e.partition_key = g.partition_key AND e.group_key = g.group_key AND e.state = 'PENDING'
            WHERE e.id NOT IN (SELECT h.id FROM head h)
        ), unit AS (
            SELECT w.n, w.id, w.seq, w.version, min(w.seq) OVER unit AS first, count(*) OVER unit AS size
            FROM whole w WINDOW unit AS (PARTITION BY w.n, w.group_key, w.alone)
        ), counted AS (
            -- The items of a unit are peers here: each of them counts the whole unit.
            SELECT u.*, count(*) OVER (ORDER BY u.n, u.first) AS upto FROM unit u
        ), chosen AS MATERIALIZED (
            SELECT c.n, c.id, c.seq, c.version FROM counted c WHERE c.upto <= p_room OR (p_empty AND c.upto = c.size)
        ), reached AS MATERIALIZED (
            -- How far: up to the first item that is left, of which a group's later items may be ahead.
            SELECT h.n, h.partition_key, h.epoch, h.lease_ms, h.after, (
                       SELECT e.seq FROM countersign.exception e
                       WHERE e.partition_key = h.partition_key AND e.seq >= greatest(h.head_seq, h.after + 1) AND e.state = 'PENDING'
                         AND e.id NOT IN (SELECT c.id FROM chosen c)
                         AND NOT countersign.closed_alone(p_who, e.barred, e.kind, e.routing_tier, e.ledger_entity, e.currency, e.variance_amount)
                         AND (e.group_key IS NULL OR NOT countersign.closed_in_group(p_who, e.partition_key, e.group_key))
                       ORDER BY e.seq LIMIT 1) AS next
            FROM held h
        )
        -- FULL, though nothing is chosen of what is not held: the planner expects a few rows, and would compare each with each.
        SELECT r.partition_key, r.epoch, r.lease_ms, coalesce(r.next - 1, max(c.seq) OVER (PARTITION BY r.n), r.after),
               r.next IS NOT NULL, c.id, c.seq, c.version, c.content_hash, c.body, c.signatures, c.due_on
        FROM reached r
        FULL JOIN (
            SELECT h.n, h.id, h.seq, h.version, b.content_hash, b.body, e.signatures, e.due_on
            FROM chosen h LEFT JOIN LATERAL (
                SELECT (e.first_by IS NOT NULL)::integer AS signatures, e.due_on FROM countersign.exception e WHERE e.id = h.id LIMIT 1) AS e ON true
            LEFT JOIN LATERAL (
                SELECT b.content_hash, b.body FROM countersign.exception_content b
                WHERE b.exception_id = h.id AND b.version = h.version LIMIT 1) AS b ON true
        ) AS c ON c.n = r.n
        ORDER BY r.n, c.seq;
    ELSE
        -- The same with a focus: what is outside is passed, and a group that has something inside comes whole.
        RETURN QUERY
        WITH held AS MATERIALIZED (
            SELECT h.n, h.after, p.partition_key, p.epoch, p.head_seq,
                   (extract(epoch FROM p.lease_until - clock_timestamp()) * 1000)::bigint AS lease_ms
            FROM unnest(p_keys, p_after) WITH ORDINALITY AS h (key, after, n) JOIN countersign.partition p ON p.partition_key = h.key
        ), head AS MATERIALIZED (
            SELECT h.n, e.id, e.seq, e.version, e.group_key, h.partition_key
            FROM held h CROSS JOIN LATERAL (
                SELECT e.* FROM countersign.matching(h.partition_key, greatest(h.head_seq, h.after + 1), p_want, p_who, p_focus) AS e
                ORDER BY e.seq LIMIT p_want) AS e
            ORDER BY h.n, e.seq LIMIT p_want
        ), whole AS (
            SELECT h.n, h.id, h.seq, h.version, h.group_key, CASE WHEN h.group_key IS NULL THEN h.id END AS alone FROM head h
            UNION ALL
            SELECT g.n, e.id, e.seq, e.version, g.group_key, NULL
            FROM (SELECT DISTINCT h.n, h.partition_key, h.group_key FROM head h WHERE h.group_key IS NOT NULL) AS g
            JOIN countersign.exception e ON e.partition_key = g.partition_key AND e.group_key = g.group_key AND e.state = 'PENDING'
            WHERE e.id NOT IN (SELECT h.id FROM head h)
        ), unit AS (
            SELECT w.n, w.id, w.seq, w.version, min(w.seq) OVER unit AS first, count(*) OVER unit AS size
            FROM whole w WINDOW unit AS (PARTITION BY w.n, w.group_key, w.alone)
        ), counted AS (
            -- The items of a unit are peers here: each of them counts the whole unit.
            SELECT u.*, count(*) OVER (ORDER BY u.n, u.first) AS upto FROM unit u
        ), chosen AS MATERIALIZED (
            SELECT c.n, c.id, c.seq, c.version FROM counted c WHERE c.upto <= p_room OR (p_empty AND c.upto = c.size)
        ), reached AS MATERIALIZED (
            -- How far: up to the first item that is left, of which a group's later items may be ahead.
            SELECT h.n, h.partition_key, h.epoch, h.lease_ms, h.after, (
                       SELECT e.seq FROM countersign.matching(h.partition_key, greatest(h.head_seq, h.after + 1), t.taken + 1, p_who, p_focus) AS e
                       WHERE e.id NOT IN (SELECT c.id FROM chosen c) ORDER BY e.seq LIMIT 1) AS next
            FROM held h CROSS JOIN (SELECT count(*)::integer AS taken FROM chosen) AS t
        )
        -- FULL, though nothing is chosen of what is not held: the planner expects a few rows, and would compare each with each.
        SELECT r.partition_key, r.epoch, r.lease_ms, coalesce(r.next - 1, max(c.seq) OVER (PARTITION BY r.n), r.after),
               r.next IS NOT NULL, c.id, c.seq, c.version, c.content_hash, c.body, c.signatures, c.due_on
        FROM reached r
        FULL JOIN (
            SELECT h.n, h.id, h.seq, h.version, b.content_hash, b.body, e.signatures, e.due_on
            FROM chosen h LEFT JOIN LATERAL (
                SELECT (e.first_by IS NOT NULL)::integer AS signatures, e.due_on FROM countersign.exception e WHERE e.id = h.id LIMIT 1) AS e ON true
            LEFT JOIN LATERAL (
                SELECT b.content_hash, b.body FROM countersign.exception_content b
                WHERE b.exception_id = h.id AND b.version = h.version LIMIT 1) AS b ON true
        ) AS c ON c.n = r.n
        ORDER BY r.n, c.seq;
    END IF;
END $$;

-- From class to class over the index of ready partitions: a run of partitions in which this person may sign nothing is passed in
-- one step, however long it is. Who may sign for a few ledger entities is led to these.
CREATE FUNCTION countersign.ready_by_rank(p_who countersign.authority, p_kinds integer, p_tiers integer, p_limit integer)
RETURNS TABLE (partition_key text, claim_rank timestamptz) LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
        WITH RECURSIVE class AS (
            (SELECT p.shut_out, p.kinds, p.tiers FROM countersign.partition p
             WHERE p_who.ledger_entities IS NULL AND p.ready ORDER BY p.shut_out, p.kinds, p.tiers LIMIT 1)
            UNION ALL
            SELECT n.* FROM class c CROSS JOIN LATERAL (
                SELECT p.shut_out, p.kinds, p.tiers FROM countersign.partition p
                WHERE p.ready AND (p.shut_out, p.kinds, p.tiers) > (c.shut_out, c.kinds, c.tiers) ORDER BY p.shut_out, p.kinds, p.tiers LIMIT 1) AS n
        )
        SELECT c.partition_key, c.claim_rank FROM (
            SELECT c.partition_key, c.claim_rank FROM class CROSS JOIN LATERAL (
                SELECT p.partition_key, p.claim_rank FROM countersign.partition p
                WHERE p.ready AND p.shut_out = class.shut_out AND p.kinds = class.kinds AND p.tiers = class.tiers AND NOT p_who.login = ANY (p.passed_by)
                ORDER BY p.claim_rank, p.partition_key LIMIT p_limit) AS c
            WHERE NOT class.shut_out && p_who.names AND class.kinds & p_kinds <> 0 AND class.tiers & p_tiers <> 0
            UNION ALL
            SELECT c.partition_key, c.claim_rank FROM unnest(p_who.ledger_entities || ''::text) AS o (entity) CROSS JOIN LATERAL (
                SELECT p.partition_key, p.claim_rank FROM countersign.partition p
                WHERE p.ready AND p.ledger_entity = o.entity AND NOT p_who.login = ANY (p.passed_by) AND NOT p.shut_out && p_who.names
                  AND p.kinds & p_kinds <> 0 AND p.tiers & p_tiers <> 0
                ORDER BY p.claim_rank, p.partition_key LIMIT p_limit) AS c
            WHERE p_who.ledger_entities IS NOT NULL) AS c
        ORDER BY c.claim_rank, c.partition_key LIMIT p_limit;
END $$;

-- Free partitions that look as if they had something inside a focus for this person, about `p_limit`, by rank. Each way looks at a
-- bounded number of rows, or at what no other way could pass:
--   1. where a focus spans many classes, the first partitions by rank;
--   2. by counterparty, from class to class;
--   3. from class to class: in the order of the rank; with ranges of amounts or dates at the first rows of each class only, and then
--      by the index of amounts and dates.
-- Partitions that others hold are passed one by one: there are not more than workstations have room for.
CREATE FUNCTION countersign.ready_in_focus(p_who countersign.authority, p_kinds integer, p_tiers integer, p_focus countersign.focus, p_limit integer)
RETURNS TABLE (partition_key text, claim_rank timestamptz) LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    c_classes CONSTANT integer := 2000;
    v_kinds text[] := ARRAY(SELECT k FROM unnest(coalesce(p_focus.kinds, ARRAY['recon_break', 'sales_claim', 'receipt'])) AS k WHERE countersign.kind_bit(k) & p_kinds <> 0);
    v_tiers text[] := ARRAY(SELECT t FROM unnest(coalesce(p_focus.tiers, ARRAY['standard', 'priority', 'escalated'])) AS t WHERE countersign.tier_bit(t) & p_tiers <> 0);
    v_entities text[] := CASE WHEN p_focus.entities IS NULL THEN p_who.ledger_entities
        WHEN p_who.ledger_entities IS NULL THEN p_focus.entities
        ELSE ARRAY(SELECT x FROM unnest(p_focus.entities) AS x WHERE x = ANY (p_who.ledger_entities)) END;
    v_least numeric := coalesce(p_focus.amount_from, 0);
    v_from date := coalesce(p_focus.due_from, '-infinity');
    v_to date := coalesce(p_focus.due_to, 'infinity');
    v_dated boolean := p_focus.due_from IS NOT NULL OR p_focus.due_to IS NOT NULL;
    v_ranged boolean := v_dated OR p_focus.amount_from IS NOT NULL OR p_focus.amount_to IS NOT NULL OR p_who.largest <> '{}';
    v_class integer[];
    v_most numeric[];
    v_end numeric[];
    v_keys text[];
    v_ranks timestamptz[];
    v_each integer;
BEGIN
    -- Which classes are inside, and up to which amount: beyond their limit nobody signs.
    WITH inside AS MATERIALIZED (
        (SELECT c.id, c.currency FROM countersign.backlog_class c
         WHERE v_entities IS NOT NULL AND c.ledger_entity = ANY (v_entities) AND c.kind = ANY (v_kinds) AND c.routing_tier = ANY (v_tiers)
           AND coalesce(c.currency = ANY (p_focus.currencies), true) LIMIT c_classes + 1)
        UNION ALL
        (SELECT c.id, c.currency FROM countersign.backlog_class c
         WHERE v_entities IS NULL AND p_focus.currencies IS NOT NULL AND c.kind = ANY (v_kinds) AND c.routing_tier = ANY (v_tiers)
           AND c.currency = ANY (p_focus.currencies) LIMIT c_classes + 1)
        UNION ALL
        (SELECT c.id, c.currency FROM countersign.backlog_class c
         WHERE v_entities IS NULL AND p_focus.currencies IS NULL AND c.kind = ANY (v_kinds) AND c.routing_tier = ANY (v_tiers) LIMIT c_classes + 1)
    )
    SELECT array_agg(i.id ORDER BY i.id), array_agg(i.most ORDER BY i.id), array_agg(countersign.band_end(i.most) ORDER BY i.id) INTO v_class, v_most, v_end
    FROM (SELECT i.id, coalesce(least(p_focus.amount_to, coalesce((p_who.largest ->> i.currency)::numeric, (p_who.largest ->> '*')::numeric)), 'infinity') AS most
          FROM inside i) AS i;
    IF v_class IS NULL THEN
        RETURN;
    END IF;
    IF p_focus.counterparty_ids IS NULL AND cardinality(v_class) > 50 THEN
        SELECT array_agg(r.partition_key), array_agg(r.claim_rank) INTO v_keys, v_ranks
        FROM countersign.ready_by_rank(p_who, coalesce((SELECT bit_or(countersign.kind_bit(k)) FROM unnest(v_kinds) AS k), 0),
                                       coalesce((SELECT bit_or(countersign.tier_bit(t)) FROM unnest(v_tiers) AS t), 0),
                                       p_limit + CASE WHEN cardinality(v_class) > c_classes THEN 2000 ELSE 200 END) AS r
        WHERE EXISTS (
            SELECT 1 FROM countersign.pending_line l
            WHERE l.partition_key = r.partition_key AND l.largest >= v_least AND coalesce(l.least <= p_focus.amount_to, true)
              AND (NOT v_dated OR l.due_on BETWEEN v_from AND v_to) AND coalesce(l.ledger_entity = ANY (v_entities), true)
              AND l.kind = ANY (v_kinds) AND l.routing_tier = ANY (v_tiers) AND coalesce(l.currency = ANY (p_focus.currencies), true));
        IF cardinality(v_keys) >= p_limit - 50 THEN
            RETURN QUERY SELECT * FROM unnest(v_keys, v_ranks) LIMIT p_limit;
            RETURN;
        END IF;
    END IF;
    IF p_focus.counterparty_ids IS NOT NULL THEN
        RETURN QUERY
        WITH RECURSIVE open AS (
            SELECT n.id, f.class, f.shut_out FROM unnest(p_focus.counterparty_ids) AS n (id) CROSS JOIN LATERAL (
                SELECT l.class, l.shut_out FROM countersign.pending_line l WHERE l.counterparty = n.id ORDER BY l.class, l.shut_out LIMIT 1) AS f
            UNION ALL
            SELECT o.id, f.class, f.shut_out FROM open o CROSS JOIN LATERAL (
                SELECT l.class, l.shut_out FROM countersign.pending_line l
                WHERE l.counterparty = o.id AND (l.class, l.shut_out) > (o.class, o.shut_out) ORDER BY l.class, l.shut_out LIMIT 1) AS f
        )
        SELECT m.partition_key, min(m.claim_rank) FROM open o
        CROSS JOIN LATERAL (
            SELECT c.most FROM countersign.backlog_class k CROSS JOIN LATERAL (SELECT v_most[array_position(v_class, k.id)] AS most) AS c
            WHERE k.id = o.class AND (k.id = ANY (v_class) OR cardinality(v_class) > c_classes) LIMIT 1) AS c
        CROSS JOIN LATERAL (
            SELECT l.partition_key, l.claim_rank FROM countersign.pending_line l
            CROSS JOIN LATERAL (SELECT p.passed_by FROM countersign.partition p WHERE p.partition_key = l.partition_key AND p.ready LIMIT 1) AS p
            WHERE l.counterparty = o.id AND l.class = o.class AND l.shut_out = o.shut_out AND l.largest >= v_least AND l.least <= coalesce(c.most, p_focus.amount_to, 'infinity')
              AND (NOT v_dated OR l.due_on BETWEEN v_from AND v_to) AND NOT p_who.login = ANY (p.passed_by)
            ORDER BY l.claim_rank, l.partition_key LIMIT p_limit) AS m
        WHERE NOT o.shut_out && p_who.names
        GROUP BY m.partition_key ORDER BY 2, 1 LIMIT p_limit;
        RETURN;
    END IF;
    v_each := greatest(3, 4 * p_limit / cardinality(v_class));
    FOR pass IN 1 .. 2 LOOP
        WITH RECURSIVE open AS (
            SELECT n.class, n.most, f.shut_out FROM unnest(v_class, v_most) AS n (class, most) CROSS JOIN LATERAL (
                SELECT l.shut_out FROM countersign.pending_line l WHERE l.class = n.class ORDER BY l.shut_out LIMIT 1) AS f
            UNION ALL
            SELECT o.class, o.most, f.shut_out FROM open o CROSS JOIN LATERAL (
                SELECT l.shut_out FROM countersign.pending_line l WHERE l.class = o.class AND l.shut_out > o.shut_out ORDER BY l.shut_out LIMIT 1) AS f
        ), found AS (
            SELECT m.partition_key, min(m.claim_rank) AS claim_rank FROM open o CROSS JOIN LATERAL (
                SELECT l.partition_key, l.claim_rank
                FROM (SELECT l.partition_key, l.claim_rank, l.least, l.largest, l.due_on FROM countersign.pending_line l
                      WHERE l.class = o.class AND l.shut_out = o.shut_out
                      ORDER BY l.claim_rank, l.partition_key LIMIT CASE WHEN v_ranged THEN greatest(20, 1000 / cardinality(v_class)) END) AS l
                CROSS JOIN LATERAL (SELECT p.passed_by FROM countersign.partition p WHERE p.partition_key = l.partition_key AND p.ready LIMIT 1) AS p
                WHERE l.largest >= v_least AND l.least <= o.most AND (NOT v_dated OR l.due_on BETWEEN v_from AND v_to) AND NOT p_who.login = ANY (p.passed_by)
                ORDER BY l.claim_rank, l.partition_key LIMIT v_each) AS m
            WHERE NOT o.shut_out && p_who.names GROUP BY m.partition_key
            ORDER BY 2, 1 LIMIT p_limit
        )
        SELECT array_agg(f.partition_key ORDER BY f.claim_rank, f.partition_key), array_agg(f.claim_rank ORDER BY f.claim_rank, f.partition_key)
        INTO v_keys, v_ranks FROM found f;
        EXIT WHEN v_ranged OR v_each >= p_limit OR cardinality(v_keys) >= p_limit - 50;
        v_each := p_limit;
    END LOOP;
    IF v_ranged AND coalesce(cardinality(v_keys), 0) < p_limit - 50 THEN
        -- The first of each class were not enough: by what is rarer.
        WITH found AS (
            SELECT m.partition_key, min(m.claim_rank) AS claim_rank FROM unnest(v_class, v_most, v_end) AS n (class, most, beyond) CROSS JOIN LATERAL (
                (SELECT l.partition_key, l.claim_rank FROM countersign.pending_line l
                 CROSS JOIN LATERAL (SELECT p.passed_by FROM countersign.partition p WHERE p.partition_key = l.partition_key AND p.ready LIMIT 1) AS p
                 WHERE NOT v_dated AND l.class = n.class AND l.largest >= v_least AND l.largest <= n.beyond AND l.least <= n.most
                   AND NOT l.shut_out && p_who.names AND NOT p_who.login = ANY (p.passed_by) LIMIT 2000)
                UNION ALL
                (SELECT l.partition_key, l.claim_rank FROM countersign.pending_line l
                 CROSS JOIN LATERAL (SELECT p.passed_by FROM countersign.partition p WHERE p.partition_key = l.partition_key AND p.ready LIMIT 1) AS p
                 WHERE v_dated AND l.class = n.class AND l.due_on BETWEEN v_from AND v_to AND l.largest >= v_least AND l.largest <= n.beyond AND l.least <= n.most
                   AND NOT l.shut_out && p_who.names AND NOT p_who.login = ANY (p.passed_by) LIMIT 2000)) AS m
            GROUP BY m.partition_key ORDER BY 2, 1 LIMIT p_limit
        )
        SELECT array_agg(f.partition_key ORDER BY f.claim_rank, f.partition_key), array_agg(f.claim_rank ORDER BY f.claim_rank, f.partition_key)
        INTO v_keys, v_ranks FROM found f;
    END IF;
    RETURN QUERY SELECT * FROM unnest(v_keys, v_ranks);
END $$;

DROP FUNCTION countersign.lease(uuid, integer, integer, boolean, integer, text[], bigint[]);
-- Hands out about `p_want` items. What the workstation holds comes first, from the cursors it names (a partition it holds and
-- does not name, because an answer was lost, starts anew); then partitions are claimed in the order of their rank.
-- With a focus only what is inside is handed out, and only partitions are claimed that have something inside.
-- Its plans are made once for the session, and only from what does not grow with the tables: indexes, in their order.
CREATE FUNCTION countersign.lease(
    p_workstation uuid, p_want integer, p_room integer, p_empty boolean, p_ttl_ms integer, p_held text[], p_after bigint[], p_focus jsonb
) RETURNS TABLE (partition_key text, epoch bigint, lease_ms bigint, after_seq bigint, more boolean, exception_id bigint, seq bigint,
                 version integer, content_hash bytea, body text, signatures integer, due_on date)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
    v_me text;
    v_who countersign.authority;
    v_kinds integer;
    v_tiers integer;
    v_key countersign.audit_key;
    v_ttl_ms integer;
    v_now timestamptz;
    v_own text[];
    v_after bigint[];
    v_got integer := 0;
    v_claim text[] := '{}';
    v_promised bigint := 0;
    v_next record;
    v_pending integer;
    v_nothing text[] := '{}';
    v_focus countersign.focus := countersign.read_focus(p_focus);
BEGIN
    PERFORM countersign.read_committed();
    IF (p_want BETWEEN 1 AND 5000 AND p_room >= p_want AND p_ttl_ms BETWEEN 30000 AND 43200000 AND p_empty IS NOT NULL) IS NOT TRUE THEN
        RAISE EXCEPTION 'lease: want must be 1 to 5000, room at least want, ttl 30000 to 43200000 ms, not %, %, %', p_want, p_room, p_ttl_ms
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF countersign.turned_away(p_workstation, 'lease') THEN
        -- A row without a partition.
        RETURN NEXT;
        RETURN;
    END IF;
    v_me := countersign.caller(p_workstation);
    v_who := countersign.authority_of(v_me);
    v_kinds := coalesce((SELECT bit_or(countersign.kind_bit(k)) FROM unnest(v_who.kinds) AS k), CASE WHEN v_who.kinds IS NULL THEN 7 ELSE 0 END);
    v_tiers := coalesce((SELECT bit_or(countersign.tier_bit(t)) FROM unnest(v_who.tiers) AS t), CASE WHEN v_who.tiers IS NULL THEN 7 ELSE 0 END);
    v_ttl_ms := least(p_ttl_ms, ((countersign.policy()).document -> 'lease' ->> 'longest_ms')::integer);
    PERFORM countersign.expire_leases();

    -- FULL for its plan alone: as a LEFT JOIN of two short lists it would compare each with each.
    WITH own AS MATERIALIZED (
        SELECT p.partition_key, p.claim_rank, coalesce(h.after, 0) AS after
        FROM (SELECT p.partition_key, p.claim_rank FROM countersign.partition p
              WHERE p.holder = p_workstation AND p.lease_until IS NOT NULL) AS p
        FULL JOIN unnest(p_held, p_after) AS h (key, after) ON h.key = p.partition_key
    )
    SELECT array_agg(o.partition_key ORDER BY o.after = 0, o.claim_rank, o.partition_key),
           array_agg(o.after ORDER BY o.after = 0, o.claim_rank, o.partition_key)
    INTO v_own, v_after
    FROM own o WHERE o.partition_key IS NOT NULL;
    IF v_own IS NOT NULL THEN
        FOR partition_key, epoch, lease_ms, after_seq, more, exception_id, seq, version, content_hash, body, signatures, due_on IN
            SELECT * FROM countersign.hand_out(v_own, v_after, p_want, p_room, p_empty, v_who, v_focus)
        LOOP
            v_got := v_got + (exception_id IS NOT NULL)::integer;
            RETURN NEXT;
        END LOOP;
    END IF;
    IF v_got >= p_want THEN
        RETURN;
    END IF;

    FOR v_next IN
        SELECT c.partition_key, 0 AS inside FROM countersign.ready_by_rank(v_who, v_kinds, v_tiers, p_want + 50) AS c WHERE v_focus IS NULL
        UNION ALL
        -- Nothing is claimed that has nothing inside for them.
        SELECT c.partition_key, m.inside FROM countersign.ready_in_focus(v_who, v_kinds, v_tiers, v_focus, p_want - v_got + 50) AS c
        CROSS JOIN LATERAL (SELECT p.head_seq FROM countersign.partition p WHERE p.partition_key = c.partition_key LIMIT 1) AS p
        CROSS JOIN LATERAL (
            SELECT count(*)::integer AS inside FROM countersign.matching(c.partition_key, p.head_seq, p_want, v_who, v_focus)) AS m
        WHERE NOT (v_focus IS NULL) AND m.inside > 0
    LOOP
        -- One at a time, so that no partition is locked, and kept from the others, that is not taken.
        SELECT p.pending INTO v_pending FROM countersign.partition p
        WHERE p.partition_key = v_next.partition_key AND p.ready AND NOT p.shut_out && v_who.names FOR NO KEY UPDATE SKIP LOCKED;
        CONTINUE WHEN NOT FOUND;
        v_claim := v_claim || v_next.partition_key;
        v_promised := v_promised + CASE WHEN v_focus IS NULL THEN v_pending ELSE v_next.inside END;
        EXIT WHEN v_promised >= p_want - v_got;
    END LOOP;
    IF cardinality(v_claim) > 0 THEN
        v_key := countersign.sealing_key();
        v_now := clock_timestamp();
        -- The record is written with the change, so that each row is written once.
        WITH record AS MATERIALIZED (
            SELECT p.partition_key, p.epoch + 1 AS epoch, p.chain_seq + 1 AS chain_seq, p.chain_head,
                   jsonb_build_object('epoch', p.epoch + 1, 'reviewer', v_me) AS detail
            FROM countersign.partition p WHERE p.partition_key = ANY (v_claim)
        ), chained AS MATERIALIZED (
            SELECT r.*, sha256(r.chain_head || countersign.audit_record(r.partition_key, r.chain_seq, v_now, 'LEASED', session_user,
                       p_workstation, NULL, NULL, NULL, NULL, NULL, NULL, r.detail)) AS chain_hash
            FROM record r
        ), audited AS (
            INSERT INTO countersign.audit_event (partition_key, chain_seq, at, event, actor, workstation, detail, chain_hash, key_id, mac)
            SELECT c.partition_key, c.chain_seq, v_now, 'LEASED', session_user, p_workstation, c.detail, c.chain_hash,
                   v_key.id, countersign.hmac(v_key.inner_pad, v_key.outer_pad, c.chain_hash)
            FROM chained c
        )
        UPDATE countersign.partition p SET
            epoch = c.epoch, holder = p_workstation, holder_reviewer = v_me, lease_until = v_now + v_ttl_ms * interval '1 millisecond',
            chain_seq = c.chain_seq, chain_head = c.chain_hash
        FROM chained c WHERE p.partition_key = c.partition_key;
        FOR partition_key, epoch, lease_ms, after_seq, more, exception_id, seq, version, content_hash, body, signatures, due_on IN
            SELECT * FROM countersign.hand_out(v_claim, array_fill(0::bigint, ARRAY[cardinality(v_claim)]), p_want - v_got, p_room - v_got,
                                               p_empty AND v_got = 0, v_who, v_focus)
        LOOP
            v_got := v_got + (exception_id IS NOT NULL)::integer;
            IF exception_id IS NULL AND NOT more AND v_focus IS NULL THEN
                v_nothing := v_nothing || partition_key;
            END IF;
            RETURN NEXT;
        END LOOP;
        IF cardinality(v_nothing) > 0 THEN
            -- It looked as if there was something for them, and there is not: they are not led here again.
            UPDATE countersign.partition p SET passed_by = p.passed_by || v_me WHERE p.partition_key = ANY (v_nothing) AND NOT v_me = ANY (p.passed_by);
        END IF;
    END IF;
END $$;

-- Without sequential scans a small table that has no index looks so dear that every call would be compiled anew, which takes longer
-- than the call.
ALTER FUNCTION countersign.release SET jit = off;
ALTER FUNCTION countersign.renew SET jit = off;
ALTER FUNCTION countersign.hand_over SET jit = off;
ALTER FUNCTION countersign.partition_assign SET jit = off;
ALTER FUNCTION countersign.expire_leases SET jit = off;

RESET ROLE;
