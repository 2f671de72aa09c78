-- The claim with a focus, as fast as without.

SET LOCAL ROLE countersign_owner;

-- What a focus lets through, in the order of the rank.
CREATE INDEX pending_line_rank ON countersign.pending_line (kind, routing_tier, currency, shut_out, claim_rank, partition_key);
CREATE INDEX pending_line_named ON countersign.pending_line (counterparty, shut_out, claim_rank, partition_key);
CREATE INDEX pending_line_day ON countersign.pending_line (due_on, shut_out, claim_rank, partition_key);
CREATE INDEX pending_line_size ON countersign.pending_line (countersign.band(largest), shut_out, claim_rank, partition_key);

-- Whether a line may have something inside a focus.
CREATE FUNCTION countersign.inside(line countersign.pending_line, focus countersign.focus) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
-- Without a path of its own, so that it becomes part of the statement that asks.
RETURN coalesce((line).largest >= (focus).amount_from, true) AND coalesce((line).least <= (focus).amount_to, true)
    AND ((focus).due_from IS NULL OR coalesce((line).due_on >= (focus).due_from, false)) AND ((focus).due_to IS NULL OR coalesce((line).due_on <= (focus).due_to, false))
    AND coalesce((line).counterparty = ANY ((focus).counterparty_ids), true) AND coalesce((line).ledger_entity = ANY ((focus).entities), true)
    AND coalesce((line).kind = ANY ((focus).kinds), true) AND coalesce((line).routing_tier = ANY ((focus).tiers), true)
    AND coalesce((line).currency = ANY ((focus).currencies), true);
REVOKE ALL ON FUNCTION countersign.inside FROM PUBLIC;

-- Free partitions that look as if they had something inside a focus for this person, by rank: about `p_limit`, and half of it at least
-- if there are that many. Each way looks at a bounded number of rows, or at what no other way could pass:
--   1. over what the focus has of one index, in the order of the rank: by counterparty, due date, order of magnitude, or kind, tier and
--      currency; at the first rows only where there is more to compare. Not if it is on few entities;
--   2. by counterparty, from class to class;
--   3. from class to class: in the order of the rank; with ranges of amounts or dates by the index of amounts and dates.
-- Partitions that others hold are passed one by one: there are not more than workstations have room for.
CREATE OR REPLACE FUNCTION countersign.ready_in_focus(p_who countersign.authority, p_kinds integer, p_tiers integer, p_focus countersign.focus, p_limit integer)
RETURNS TABLE (partition_key text, claim_rank timestamptz) LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    c_classes CONSTANT integer := 2000;
    c_runs CONSTANT integer := 1000;
    c_rows CONSTANT integer := 2000;
    v_kinds text[] := ARRAY(SELECT k FROM unnest(coalesce(p_focus.kinds, ARRAY['recon_break', 'sales_claim', 'receipt'])) AS k WHERE countersign.kind_bit(k) & p_kinds <> 0);
    v_tiers text[] := ARRAY(SELECT t FROM unnest(coalesce(p_focus.tiers, ARRAY['standard', 'priority', 'escalated'])) AS t WHERE countersign.tier_bit(t) & p_tiers <> 0);
    v_entities text[] := CASE WHEN p_focus.entities IS NULL THEN p_who.ledger_entities
        WHEN p_who.ledger_entities IS NULL THEN p_focus.entities
        ELSE ARRAY(SELECT x FROM unnest(p_focus.entities) AS x WHERE x = ANY (p_who.ledger_entities)) END;
    v_least numeric := coalesce(p_focus.amount_from, 0);
    v_from date := coalesce(p_focus.due_from, '-infinity');
    v_to date := coalesce(p_focus.due_to, 'infinity');
    v_dated boolean := p_focus.due_from IS NOT NULL OR p_focus.due_to IS NOT NULL;
    v_limited boolean := p_who.largest <> '{}';
    v_ranged boolean := v_dated OR p_focus.amount_from IS NOT NULL OR p_focus.amount_to IS NOT NULL OR v_limited;
    v_inside countersign.focus := p_focus;
    v_over text := CASE WHEN p_focus.counterparty_ids IS NOT NULL THEN 'counterparty' WHEN cardinality(v_entities) <= 5 THEN 'class' WHEN v_dated THEN 'due'
        WHEN v_least > 0 OR p_focus.amount_to IS NOT NULL THEN 'size' ELSE 'sort' END;
    v_some boolean := v_entities IS NOT NULL OR v_limited OR (v_over <> 'size' AND (v_least > 0 OR p_focus.amount_to IS NOT NULL)) OR (v_over <> 'due' AND v_dated)
        OR (v_over <> 'sort' AND (p_focus.currencies IS NOT NULL OR cardinality(v_kinds) < 3 OR cardinality(v_tiers) < 3));
    v_first smallint := countersign.band(v_least);
    v_last smallint := countersign.band(coalesce(p_focus.amount_to, 1e40));
    v_runs countersign.pending_line[];
    v_rows integer;
    v_class integer[];
    v_most numeric[];
    v_end numeric[];
    v_keys text[];
    v_ranks timestamptz[];
    v_each integer;
BEGIN
    v_inside.kinds := v_kinds;
    v_inside.tiers := v_tiers;
    v_inside.entities := v_entities;
    -- The first line of each run.
    IF v_over = 'counterparty' THEN
        v_runs := ARRAY(
            WITH RECURSIVE run AS (
                SELECT f.head FROM unnest(p_focus.counterparty_ids) AS n (id) CROSS JOIN LATERAL (
                    SELECT l AS head FROM countersign.pending_line l WHERE l.counterparty = n.id ORDER BY l.shut_out LIMIT 1) AS f
                UNION ALL
                SELECT n.head FROM run o CROSS JOIN LATERAL (
                    SELECT l AS head FROM countersign.pending_line l WHERE l.counterparty = (o.head).counterparty AND l.shut_out > (o.head).shut_out ORDER BY l.shut_out LIMIT 1) AS n
            ) SELECT o.head FROM run o LIMIT c_runs);
    ELSIF v_over = 'due' THEN
        v_runs := ARRAY(
            WITH RECURSIVE run AS (
                (SELECT l AS head FROM countersign.pending_line l WHERE l.due_on BETWEEN v_from AND v_to ORDER BY l.due_on, l.shut_out LIMIT 1)
                UNION ALL
                SELECT n.head FROM run o CROSS JOIN LATERAL (
                    SELECT l AS head FROM countersign.pending_line l
                    WHERE (l.due_on, l.shut_out) > ((o.head).due_on, (o.head).shut_out) AND l.due_on <= v_to ORDER BY l.due_on, l.shut_out LIMIT 1) AS n
            ) SELECT o.head FROM run o LIMIT c_runs);
    ELSIF v_over = 'size' THEN
        v_runs := ARRAY(
            WITH RECURSIVE run AS (
                (SELECT l AS head FROM countersign.pending_line l WHERE countersign.band(l.largest) BETWEEN v_first AND v_last
                 ORDER BY countersign.band(l.largest), l.shut_out LIMIT 1)
                UNION ALL
                SELECT n.head FROM run o CROSS JOIN LATERAL (
                    SELECT l AS head FROM countersign.pending_line l
                    WHERE (countersign.band(l.largest), l.shut_out) > (countersign.band((o.head).largest), (o.head).shut_out) AND countersign.band(l.largest) <= v_last
                    ORDER BY countersign.band(l.largest), l.shut_out LIMIT 1) AS n
            ) SELECT o.head FROM run o LIMIT c_runs);
    ELSIF v_over = 'sort' THEN
        v_runs := ARRAY(
            WITH RECURSIVE run AS (
                (SELECT l AS head FROM countersign.pending_line l ORDER BY l.kind, l.routing_tier, l.currency, l.shut_out LIMIT 1)
                UNION ALL
                SELECT n.head FROM run o CROSS JOIN LATERAL (
                    SELECT l AS head FROM countersign.pending_line l
                    WHERE (l.kind, l.routing_tier, l.currency, l.shut_out) > ((o.head).kind, (o.head).routing_tier, (o.head).currency, (o.head).shut_out)
                    ORDER BY l.kind, l.routing_tier, l.currency, l.shut_out LIMIT 1) AS n
            ) SELECT o.head FROM run o WHERE (o.head).kind = ANY (v_kinds) AND (o.head).routing_tier = ANY (v_tiers) AND coalesce((o.head).currency = ANY (p_focus.currencies), true) LIMIT c_runs);
    END IF;
    FOREACH v_each IN ARRAY ARRAY[least(p_limit, 1 + 4 * p_limit / greatest(cardinality(v_runs), 1)), p_limit] LOOP
        EXIT WHEN v_over = 'class';
        v_rows := 1 + c_rows / greatest(cardinality(v_runs), 1);
        SELECT array_agg(f.partition_key), array_agg(f.claim_rank) INTO v_keys, v_ranks
        FROM (
            SELECT m.partition_key, min(m.claim_rank) AS claim_rank FROM unnest(v_runs) AS o CROSS JOIN LATERAL (
                SELECT l.partition_key, l.claim_rank
                FROM ((SELECT l AS line, l.partition_key, l.claim_rank FROM countersign.pending_line l
                       WHERE v_over = 'counterparty' AND l.counterparty = o.counterparty AND l.shut_out = o.shut_out
                       ORDER BY l.claim_rank, l.partition_key LIMIT CASE WHEN v_some THEN v_rows END)
                      UNION ALL
                      (SELECT l, l.partition_key, l.claim_rank FROM countersign.pending_line l
                       WHERE v_over = 'due' AND l.due_on = o.due_on AND l.shut_out = o.shut_out
                       ORDER BY l.claim_rank, l.partition_key LIMIT CASE WHEN v_some THEN v_rows END)
                      UNION ALL
                      (SELECT l, l.partition_key, l.claim_rank FROM countersign.pending_line l
                       WHERE v_over = 'size' AND countersign.band(l.largest) = countersign.band(o.largest) AND l.shut_out = o.shut_out
                       ORDER BY l.claim_rank, l.partition_key LIMIT CASE WHEN v_some OR countersign.band(o.largest) IN (v_first, v_last) THEN v_rows END)
                      UNION ALL
                      (SELECT l, l.partition_key, l.claim_rank FROM countersign.pending_line l
                       WHERE v_over = 'sort' AND l.kind = o.kind AND l.routing_tier = o.routing_tier AND l.currency = o.currency AND l.shut_out = o.shut_out
                       ORDER BY l.claim_rank, l.partition_key LIMIT CASE WHEN v_some THEN v_rows END)
                      -- So that what follows is compared once, not in each branch.
                      OFFSET 0) AS l
                CROSS JOIN LATERAL (SELECT p.passed_by FROM countersign.partition p WHERE p.partition_key = l.partition_key AND p.ready LIMIT 1) AS p
                WHERE countersign.inside(l.line, v_inside) AND NOT p_who.login = ANY (p.passed_by)
                  AND (NOT v_limited OR (l.line).least <= coalesce((p_who.largest ->> (l.line).currency)::numeric, (p_who.largest ->> '*')::numeric, 'infinity'))
                LIMIT v_each) AS m
            WHERE NOT o.shut_out && p_who.names GROUP BY m.partition_key ORDER BY 2, 1 LIMIT p_limit) AS f;
        IF 2 * cardinality(v_keys) >= p_limit OR (NOT v_some AND v_over <> 'size' AND v_each = p_limit AND cardinality(v_runs) < c_runs) THEN
            RETURN QUERY SELECT * FROM unnest(v_keys, v_ranks);
            RETURN;
        END IF;
        EXIT WHEN v_each = p_limit;
    END LOOP;
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
    -- By rank the first of them were seen above.
    FOR pass IN 1 .. CASE WHEN v_ranged AND v_over <> 'class' THEN 0 ELSE 2 END LOOP
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
        EXIT WHEN v_ranged OR v_each >= p_limit OR 2 * cardinality(v_keys) >= p_limit;
        v_each := p_limit;
    END LOOP;
    -- The first were not enough: by what is rarer.
    FOREACH v_each IN ARRAY ARRAY[greatest(1, 4 * p_limit / cardinality(v_class)), 2000] LOOP
        EXIT WHEN NOT v_ranged OR 2 * cardinality(v_keys) >= p_limit;
        WITH found AS (
            SELECT m.partition_key, min(m.claim_rank) AS claim_rank FROM unnest(v_class, v_most, v_end) AS n (class, most, beyond) CROSS JOIN LATERAL (
                (SELECT l.partition_key, l.claim_rank FROM countersign.pending_line l
                 CROSS JOIN LATERAL (SELECT p.passed_by FROM countersign.partition p WHERE p.partition_key = l.partition_key AND p.ready LIMIT 1) AS p
                 WHERE NOT v_dated AND l.class = n.class AND l.largest >= v_least AND l.largest <= n.beyond AND l.least <= n.most
                   AND NOT l.shut_out && p_who.names AND NOT p_who.login = ANY (p.passed_by) LIMIT v_each)
                UNION ALL
                (SELECT l.partition_key, l.claim_rank FROM countersign.pending_line l
                 CROSS JOIN LATERAL (SELECT p.passed_by FROM countersign.partition p WHERE p.partition_key = l.partition_key AND p.ready LIMIT 1) AS p
                 WHERE v_dated AND l.class = n.class AND l.due_on BETWEEN v_from AND v_to AND l.largest >= v_least AND l.largest <= n.beyond AND l.least <= n.most
                   AND NOT l.shut_out && p_who.names AND NOT p_who.login = ANY (p.passed_by) LIMIT v_each)
                UNION ALL
                SELECT k.partition_key, k.claim_rank FROM unnest(v_keys, v_ranks) AS k (partition_key, claim_rank) WHERE n.class = v_class[1]) AS m
            GROUP BY m.partition_key ORDER BY 2, 1 LIMIT p_limit
        )
        SELECT array_agg(f.partition_key ORDER BY f.claim_rank, f.partition_key), array_agg(f.claim_rank ORDER BY f.claim_rank, f.partition_key)
        INTO v_keys, v_ranks FROM found f;
    END LOOP;
    RETURN QUERY SELECT * FROM unnest(v_keys, v_ranks);
END $$;

-- Hands out about `p_want` items. What the workstation holds comes first, from the cursors it names (a partition it holds and
-- does not name, because an answer was lost, starts anew); then partitions are claimed in the order of their rank.
-- With a focus only what is inside is handed out, and only partitions are claimed that have something inside.
-- They are looked at one after the other, and no further than it takes: by rank as long as one in five has something inside, and then
-- by what the focus asks for.
-- Its plans are made once for the session, and only from what does not grow with the tables: indexes, in their order.
CREATE OR REPLACE FUNCTION countersign.lease(
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
    v_epochs jsonb;
    v_got integer := 0;
    v_claim text[] := '{}';
    v_promised bigint := 0;
    v_next record;
    v_pending integer;
    v_nothing text[] := '{}';
    v_focus countersign.focus := countersign.read_focus(p_focus);
    v_near countersign.authority;
    v_limit integer;
    v_looked integer;
    v_left integer := 0;
    -- Fetched one by one: what is inside the next is counted when its turn comes. Nothing is claimed that has nothing inside for them.
    v_candidates CURSOR (way integer) FOR
        SELECT c.partition_key, CASE WHEN c.partition_key = ANY (v_claim) THEN 0 ELSE m.inside END AS inside FROM (
            SELECT c.partition_key FROM countersign.ready_by_rank(v_near, v_kinds, v_tiers, v_limit) AS c WHERE way = 1
            UNION ALL
            SELECT c.partition_key FROM countersign.ready_in_focus(v_who, v_kinds, v_tiers, v_focus, v_limit) AS c WHERE way > 1) AS c
        CROSS JOIN LATERAL (SELECT p.head_seq FROM countersign.partition p WHERE p.partition_key = c.partition_key LIMIT 1) AS p
        CROSS JOIN LATERAL (
            SELECT count(*)::integer AS inside FROM countersign.matching(c.partition_key, p.head_seq, p_want - v_got, v_who, v_focus)) AS m;
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
        SELECT p.partition_key, p.epoch, p.claim_rank, coalesce(h.after, 0) AS after
        FROM (SELECT p.partition_key, p.epoch, p.claim_rank FROM countersign.partition p
              WHERE p.holder = p_workstation AND p.lease_until IS NOT NULL) AS p
        FULL JOIN unnest(p_held, p_after) AS h (key, after) ON h.key = p.partition_key
    )
    SELECT array_agg(o.partition_key ORDER BY o.after = 0, o.claim_rank, o.partition_key),
           array_agg(o.after ORDER BY o.after = 0, o.claim_rank, o.partition_key), jsonb_object_agg(o.partition_key, o.epoch)
    INTO v_own, v_after, v_epochs
    FROM own o WHERE o.partition_key IS NOT NULL;
    IF v_own IS NOT NULL THEN
        FOR partition_key, epoch, lease_ms, after_seq, more, exception_id, seq, version, content_hash, body, signatures, due_on IN
            SELECT * FROM countersign.hand_out(v_own, v_after, p_want, p_room, p_empty, v_who, v_focus)
        LOOP
            -- Its time may have run out in between, and somebody may have returned or even claimed it.
            CONTINUE WHEN lease_ms IS NULL OR epoch <> (v_epochs ->> partition_key)::bigint;
            v_got := v_got + (exception_id IS NOT NULL)::integer;
            RETURN NEXT;
        END LOOP;
    END IF;
    IF v_got >= p_want THEN
        RETURN;
    END IF;

    IF v_focus IS NULL THEN
        FOR v_next IN SELECT c.partition_key FROM countersign.ready_by_rank(v_who, v_kinds, v_tiers, p_want + 50) AS c LOOP
            -- One at a time, so that no partition is locked, and kept from the others, that is not taken.
            SELECT p.pending INTO v_pending FROM countersign.partition p
            WHERE p.partition_key = v_next.partition_key AND p.ready AND NOT p.shut_out && v_who.names FOR NO KEY UPDATE SKIP LOCKED;
            CONTINUE WHEN NOT FOUND;
            v_claim := v_claim || v_next.partition_key;
            v_promised := v_promised + v_pending;
            EXIT WHEN v_promised >= p_want - v_got;
        END LOOP;
    ELSE
        v_kinds := v_kinds & coalesce((SELECT bit_or(countersign.kind_bit(k)) FROM unnest(v_focus.kinds) AS k), 7);
        v_tiers := v_tiers & coalesce((SELECT bit_or(countersign.tier_bit(t)) FROM unnest(v_focus.tiers) AS t), 7);
        v_near := v_who;
        IF cardinality(v_focus.entities) <= 5 THEN
            v_near.ledger_entities := ARRAY(SELECT x FROM unnest(v_focus.entities) AS x WHERE coalesce(x = ANY (v_who.ledger_entities), true));
        END IF;
        <<ways>>
        FOR way IN 1 .. 3 LOOP
            -- At first as many as it seems to take, then as many as it can take.
            v_limit := cardinality(v_claim) + CASE way WHEN 2 THEN 8 + (p_want - v_got - v_promised) * cardinality(v_claim) / greatest(v_promised, 1) ELSE p_want - v_got + 50 END;
            v_looked := 0;
            FOR v_candidate IN v_candidates(way) LOOP
                v_looked := v_looked + 1;
                IF v_candidate.inside > 0 THEN
                    PERFORM 1 FROM countersign.partition p
                    WHERE p.partition_key = v_candidate.partition_key AND p.ready AND NOT p.shut_out && v_who.names FOR NO KEY UPDATE SKIP LOCKED;
                    IF FOUND THEN
                        v_claim := v_claim || v_candidate.partition_key;
                        v_promised := v_promised + v_candidate.inside;
                        EXIT ways WHEN v_promised >= p_want - v_got;
                        CONTINUE;
                    END IF;
                END IF;
                v_left := v_left + 1;
                EXIT WHEN way = 1 AND v_left >= 10 + 4 * cardinality(v_claim);
            END LOOP;
            -- There are no more.
            EXIT WHEN CASE way WHEN 1 THEN v_looked < v_limit AND v_left < 10 + 4 * cardinality(v_claim) ELSE 2 * v_looked < v_limit END;
        END LOOP;
    END IF;
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

RESET ROLE;
