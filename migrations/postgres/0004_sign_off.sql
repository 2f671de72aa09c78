-- Signing: one call, one transaction, an answer for each item.

-- The key of a decision: a function of what was decided, on which content, by whom.
-- SHA-256 over "countersign/sign-off/1", the exception's key, the content hash in lower-case hex, the decision and the reviewer,
-- each followed by a line feed.
CREATE FUNCTION countersign.sign_off_key(idempotency_key text, content_hash bytea, decision text, reviewer text) RETURNS bytea
LANGUAGE sql STABLE PARALLEL SAFE
RETURN sha256(convert_to('countersign/sign-off/1' || E'\n' || idempotency_key || E'\n' || encode(content_hash, 'hex') || E'\n'
              || decision || E'\n' || reviewer || E'\n', 'UTF8'));

-- Everything else that a key stands for.
CREATE FUNCTION countersign.sign_off_payload(exception_id bigint, reason text, comment text, decided_at timestamptz) RETURNS bytea
LANGUAGE sql STABLE PARALLEL SAFE
RETURN sha256(convert_to(jsonb_build_array(exception_id, reason, comment, (extract(epoch FROM decided_at) * 1000000)::bigint)::text, 'UTF8'));

-- A batch as rows. It is a function of its own for its row estimate: the planner would take 10 for an array it cannot see, and
-- join a batch of 500 by comparing each with each.
CREATE FUNCTION countersign.sign_off_batch(
    p_sign_off_key bytea[], p_exception_id bigint[], p_content_hash bytea[], p_epoch bigint[], p_decision text[],
    p_reason text[], p_comment text[], p_decided_at timestamptz[]
) RETURNS TABLE (key bytea, exception_id bigint, content_hash bytea, epoch bigint, decision text, reason text, comment text,
                 decided_at timestamptz, n bigint)
LANGUAGE plpgsql STABLE ROWS 200 SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN QUERY
    SELECT * FROM unnest(p_sign_off_key, p_exception_id, p_content_hash, p_epoch, p_decision, p_reason, p_comment, p_decided_at) WITH ORDINALITY;
END $$;

-- A decision takes effect when its item is next in the partition; until then it is HELD. Outcomes:
--   COMMITTED         decided, and the effect is written;
--   HELD              decided; the effect waits for an earlier item of the partition;
--   DUPLICATE         this very decision was accepted before; `first_outcome` was its answer;
--   KEY_REUSED        the key stands for another decision, or is not the key of this one;
--   PREPARER          the reviewer prepared the exception, or another pending one of its group;
--   LEASE_SUPERSEDED  the lease it was decided under is not the partition's current one;
--   ALREADY_DECIDED   somebody decided it before;
--   STALE_VERSION     the content is not what the reviewer saw;
--   NOT_ELIGIBLE      no such exception.
-- Refusals are returned and not raised, so that their audit records stay.
CREATE FUNCTION countersign.sign_off(
    p_workstation uuid, p_sign_off_key bytea[], p_exception_id bigint[], p_content_hash bytea[], p_epoch bigint[], p_decision text[],
    p_reason text[], p_comment text[], p_decided_at timestamptz[]
) RETURNS TABLE (ordinal integer, outcome text, first_outcome text, version integer, decided_by text, decision text, decided_at timestamptz)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
    v_me text := countersign.caller(p_workstation);
    v_now timestamptz;
    v_partitions text[];
    v_unknown bigint;
    v_bad bigint;
BEGIN
    IF (cardinality(p_sign_off_key) <= 1000) IS NOT TRUE THEN
        RAISE EXCEPTION 'sign_off takes at most 1000 decisions a call, not %', cardinality(p_sign_off_key) USING ERRCODE = 'program_limit_exceeded';
    END IF;
    IF (cardinality(p_sign_off_key) = ALL (ARRAY[cardinality(p_exception_id), cardinality(p_content_hash), cardinality(p_epoch), cardinality(p_decision),
                                                 cardinality(p_reason), cardinality(p_comment), cardinality(p_decided_at)])) IS NOT TRUE THEN
        RAISE EXCEPTION 'sign_off: the arrays differ in length' USING ERRCODE = 'invalid_parameter_value';
    END IF;
    SELECT min(i.n) INTO v_bad
    FROM unnest(p_sign_off_key, p_exception_id, p_content_hash, p_epoch, p_decision, p_reason, p_comment, p_decided_at)
         WITH ORDINALITY AS i (key, exception_id, content_hash, epoch, decision, reason, comment, decided_at, n)
    WHERE (length(i.key) = 32 AND i.exception_id IS NOT NULL AND length(i.content_hash) = 32 AND i.epoch IS NOT NULL
           AND i.decision IN ('APPROVE', 'REJECT') AND (i.decision = 'APPROVE' OR i.reason IS NOT NULL)
           AND length(coalesce(i.reason, '-')) BETWEEN 1 AND 64 AND length(coalesce(i.comment, '')) <= 2000
           AND i.decided_at BETWEEN '1970-01-01Z' AND '9999-12-31Z') IS NOT TRUE;
    IF v_bad IS NOT NULL THEN
        RAISE EXCEPTION 'sign_off: decision % of the call cannot be: a key and a content hash of 32 bytes, an exception, an epoch, APPROVE or REJECT, a reason of at most 64 characters (a rejection has one), a comment of at most 2000 and an instant are expected', v_bad
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    -- A plan is kept for the whole session, and may have been made while a table was empty. Each LIMIT 1 below is on a unique key
    -- and changes no answer: with it, and without sequential scans, every row is looked up by its key however the tables grow.
    SELECT array_agg(t.partition_key) FILTER (WHERE t.partition_key IS NOT NULL),
           coalesce(sum(t.items) FILTER (WHERE t.partition_key IS NULL), 0)
    INTO v_partitions, v_unknown
    FROM (SELECT e.partition_key, count(*) AS items
          FROM unnest(p_exception_id) AS i (id)
          LEFT JOIN LATERAL (SELECT e.partition_key FROM countersign.exception e WHERE e.id = i.id LIMIT 1) AS e ON true
          GROUP BY e.partition_key) AS t;
    PERFORM 1 FROM countersign.partition p WHERE p.partition_key = ANY (v_partitions) ORDER BY p.partition_key FOR NO KEY UPDATE;
    v_now := clock_timestamp();

    RETURN QUERY
    WITH item AS MATERIALIZED (
        SELECT i.*, e.idempotency_key, e.partition_key, e.seq, e.version, e.state, e.ledger_entity, e.currency, e.variance_amount,
               e.trace_id, e.source_hash, e.match_decision, e.decided_by AS old_decided_by, e.decision AS old_decision, e.decided_at AS old_decided_at,
               countersign.sign_off_payload(i.exception_id, i.reason, i.comment, i.decided_at) AS payload_hash,
               s.payload_hash AS first_payload, s.outcome AS first_outcome,
               p.chain_seq, p.chain_head, p.head_seq, p.next_seq,
               CASE WHEN e.id IS NULL THEN 'NOT_ELIGIBLE'
                    WHEN i.key IS DISTINCT FROM countersign.sign_off_key(e.idempotency_key, i.content_hash, i.decision, v_me) THEN 'KEY_REUSED'
                    WHEN s.sign_off_key IS NOT NULL THEN 'KNOWN'
                    WHEN v_me = ANY (e.prepared_by) THEN 'PREPARER'
                    WHEN e.group_key IS NOT NULL AND countersign.shut_out_of(v_me, e.prepared_by, e.partition_key, e.group_key) THEN 'PREPARER'
                    WHEN (p.epoch = i.epoch AND p.holder = p_workstation AND p.holder_reviewer = v_me) IS NOT TRUE THEN 'LEASE_SUPERSEDED'
                    WHEN e.state <> 'PENDING' THEN 'ALREADY_DECIDED'
                    WHEN e.content_hash IS DISTINCT FROM i.content_hash THEN 'STALE_VERSION'
                    ELSE 'ACCEPTED' END AS verdict
        FROM countersign.sign_off_batch(p_sign_off_key, p_exception_id, p_content_hash, p_epoch, p_decision, p_reason, p_comment, p_decided_at) AS i
        LEFT JOIN LATERAL (SELECT e.* FROM countersign.exception e WHERE e.id = i.exception_id LIMIT 1) AS e ON true
        LEFT JOIN LATERAL (SELECT p.* FROM countersign.partition p WHERE p.partition_key = e.partition_key LIMIT 1) AS p ON true
        LEFT JOIN LATERAL (SELECT s.* FROM countersign.sign_off s WHERE s.sign_off_key = i.key LIMIT 1) AS s ON true
    ), judged AS MATERIALIZED (
        -- The first acceptable decision on an exception is the one; a repetition in the same call is judged against it.
        SELECT i.*, i.verdict = 'ACCEPTED' AND i.n = first_value(i.n) OVER same AS accepted,
               first_value(i.key) OVER same AS accepted_key, first_value(i.payload_hash) OVER same AS accepted_payload,
               first_value(i.decision) OVER same AS accepted_decision
        FROM item i WINDOW same AS (PARTITION BY i.exception_id ORDER BY i.verdict <> 'ACCEPTED', i.n)
    ), bound AS MATERIALIZED (
        -- How far each partition's effects reach once these decisions stand: up to its first item that is still pending.
        SELECT t.partition_key, t.head_seq, t.accepted, coalesce((
                   SELECT e.seq FROM countersign.exception e
                   WHERE e.partition_key = t.partition_key AND e.seq >= t.head_seq AND e.state = 'PENDING'
                     AND e.id NOT IN (SELECT j.exception_id FROM judged j WHERE j.accepted)
                   ORDER BY e.seq LIMIT 1), t.next_seq) AS head
        FROM (SELECT j.partition_key, j.head_seq, j.next_seq, count(*)::integer AS accepted FROM judged j WHERE j.accepted
              GROUP BY j.partition_key, j.head_seq, j.next_seq) AS t
    ), answered AS MATERIALIZED (
        SELECT j.*, b.head,
               CASE WHEN j.accepted AND j.seq < b.head THEN 'COMMITTED'
                    WHEN j.accepted THEN 'HELD'
                    WHEN j.verdict = 'KNOWN' AND j.first_payload = j.payload_hash THEN 'DUPLICATE'
                    WHEN j.verdict = 'KNOWN' THEN 'KEY_REUSED'
                    WHEN j.verdict = 'ACCEPTED' AND j.accepted_key = j.key AND j.accepted_payload = j.payload_hash THEN 'DUPLICATE'
                    WHEN j.verdict = 'ACCEPTED' AND j.accepted_key = j.key THEN 'KEY_REUSED'
                    WHEN j.verdict = 'ACCEPTED' THEN 'ALREADY_DECIDED'
                    ELSE j.verdict END AS answer
        FROM judged j LEFT JOIN bound b ON b.partition_key = j.partition_key
    ), decided AS MATERIALIZED (
        -- What changes: the decisions that stand, and earlier ones that were held and now are next.
        SELECT d.*, CASE WHEN d.takes_effect THEN nextval('countersign.effect_no') END AS effect_no
        FROM (
            SELECT a.exception_id AS id, a.partition_key, a.seq, a.decision, a.reason, v_me AS decided_by, a.answer = 'COMMITTED' AS takes_effect,
                   false AS was_held, a.ledger_entity, a.currency, a.variance_amount, a.trace_id, a.source_hash, a.match_decision, a.content_hash
            FROM answered a WHERE a.accepted
            UNION ALL
            SELECT e.id, e.partition_key, e.seq, e.decision, s.reason, e.decided_by, true,
                   true, e.ledger_entity, e.currency, e.variance_amount, e.trace_id, e.source_hash, e.match_decision, e.content_hash
            FROM bound b
            JOIN countersign.exception e ON e.partition_key = b.partition_key AND e.seq >= b.head_seq AND e.seq < b.head AND e.state IN ('APPROVED', 'REJECTED')
            LEFT JOIN LATERAL (SELECT s.reason FROM countersign.sign_off s WHERE s.exception_id = e.id ORDER BY s.signed_at DESC LIMIT 1) AS s ON true
            ORDER BY partition_key, seq
        ) AS d
    ), posted AS (
        INSERT INTO countersign.posting (exception_id, effect_no, ledger_entity, currency, amount, posted_at)
        SELECT d.id, d.effect_no, d.ledger_entity, d.currency, d.variance_amount, v_now FROM decided d WHERE d.takes_effect AND d.decision = 'APPROVE'
    ), routed AS (
        INSERT INTO countersign.routing (exception_id, effect_no, routed_to, reason, routed_at)
        SELECT d.id, d.effect_no, 'matching team', d.reason, v_now FROM decided d WHERE d.takes_effect AND d.decision = 'REJECT'
    ), moved AS (
        UPDATE countersign.exception e SET
            state = CASE WHEN d.takes_effect THEN 'RESOLVED' WHEN d.decision = 'APPROVE' THEN 'APPROVED' ELSE 'REJECTED' END,
            decision = d.decision, decided_by = d.decided_by, decided_at = CASE WHEN d.was_held THEN e.decided_at ELSE v_now END,
            resolved_at = CASE WHEN d.takes_effect THEN v_now END
        FROM decided d WHERE e.id = d.id
    ), signed AS (
        INSERT INTO countersign.sign_off (sign_off_key, payload_hash, exception_id, version, content_hash, reviewer, workstation, epoch,
            decision, reason, comment, decided_at, signed_at, outcome)
        SELECT a.key, a.payload_hash, a.exception_id, a.version, a.content_hash, v_me, p_workstation, a.epoch,
               a.decision, a.reason, a.comment, a.decided_at, v_now, a.answer
        FROM answered a WHERE a.accepted
    ), chained AS MATERIALIZED (
        SELECT r.*, countersign.chain(CASE WHEN r.place = 1 THEN r.chain_head ELSE '' END || countersign.audit_record(r.partition_key,
                   r.chain_seq + r.place, v_now, r.event, v_me, p_workstation, r.exception_id, r.trace_id, r.source_hash, r.match_decision,
                   r.content_hash, r.outcome, r.detail)) OVER chain AS chain_hash
        FROM (
            SELECT r.*, row_number() OVER chain AS place, count(*) OVER (PARTITION BY r.partition_key) AS places FROM (
                SELECT a.partition_key, a.chain_seq, a.chain_head, false AS late, a.n::bigint AS n, 'SIGNED' AS event, a.exception_id, a.trace_id, a.source_hash,
                       a.match_decision, a.content_hash, a.answer AS outcome,
                       jsonb_build_object('key', encode(a.key, 'hex'), 'decision', a.decision, 'decided_at', a.decided_at, 'epoch', a.epoch) AS detail
                FROM answered a WHERE a.partition_key IS NOT NULL AND a.answer <> 'DUPLICATE'
                UNION ALL
                SELECT d.partition_key, p.chain_seq, p.chain_head, true, d.seq, 'EFFECT', d.id, d.trace_id, d.source_hash, d.match_decision, d.content_hash, 'COMMITTED',
                       jsonb_build_object('decision', d.decision, 'decided_by', d.decided_by)
                FROM decided d JOIN countersign.partition p ON p.partition_key = d.partition_key WHERE d.was_held
            ) AS r WINDOW chain AS (PARTITION BY r.partition_key ORDER BY r.late, r.n)
        ) AS r WINDOW chain AS (PARTITION BY r.partition_key ORDER BY r.late, r.n)
    ), audited AS (
        INSERT INTO countersign.audit_event (partition_key, chain_seq, at, event, actor, workstation, exception_id, trace_id, source_hash,
            match_decision, content_hash, outcome, detail, chain_hash)
        SELECT c.partition_key, c.chain_seq + c.place, v_now, c.event, v_me, p_workstation, c.exception_id, c.trace_id, c.source_hash,
               c.match_decision, c.content_hash, c.outcome, c.detail, c.chain_hash
        FROM chained c
    ), advanced AS (
        UPDATE countersign.partition p SET
            chain_seq = c.chain_seq + c.place, chain_head = c.chain_hash, head_seq = coalesce(b.head, p.head_seq),
            pending = p.pending - coalesce(b.accepted, 0)
        FROM chained c LEFT JOIN bound b ON b.partition_key = c.partition_key
        WHERE c.place = c.places AND p.partition_key = c.partition_key
    )
    SELECT a.n::integer, a.answer,
           CASE WHEN a.answer = 'DUPLICATE' THEN coalesce(a.first_outcome, CASE WHEN a.seq < a.head THEN 'COMMITTED' ELSE 'HELD' END) END,
           a.version,
           CASE WHEN a.answer IN ('ALREADY_DECIDED', 'LEASE_SUPERSEDED') THEN coalesce(a.old_decided_by, CASE WHEN a.answer = 'ALREADY_DECIDED' THEN v_me END) END,
           CASE WHEN a.answer IN ('ALREADY_DECIDED', 'LEASE_SUPERSEDED') THEN coalesce(a.old_decision, CASE WHEN a.answer = 'ALREADY_DECIDED' THEN a.accepted_decision END) END,
           CASE WHEN a.answer IN ('ALREADY_DECIDED', 'LEASE_SUPERSEDED') THEN coalesce(a.old_decided_at, CASE WHEN a.answer = 'ALREADY_DECIDED' THEN v_now END) END
    FROM answered a;

    IF v_unknown > 0 THEN
        PERFORM countersign.audit_installation('SIGNED', p_workstation, i.id, 'NOT_ELIGIBLE', NULL)
        FROM unnest(p_exception_id) AS i (id) LEFT JOIN countersign.exception e ON e.id = i.id WHERE e.id IS NULL;
    END IF;
END $$;
