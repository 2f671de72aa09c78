-- The desk of dead letters: what did not get in, or could not be worked on, and every step of what is done about it.

SET LOCAL ROLE countersign_owner;

-- remediates: whether a reviewer may work at the desk.
ALTER TABLE countersign.reviewer ADD remediates boolean NOT NULL DEFAULT false;

-- What a dead letter has in common with others. Producers of the last release name none: then code, field and reason tell it.
CREATE FUNCTION countersign.letter_cause(cause text, code text, field text, reason text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN cause IN ('UNREADABLE', 'SCHEMA_VERSION', 'FIELD', 'UNKNOWN_VALUE', 'NAME', 'DATE', 'CURRENCY', 'AMOUNT', 'KEY', 'SOURCE_HASH', 'AGREEMENT',
                   'VENDOR', 'LINE_ITEMS', 'EMPTY_EXTRACTION', 'CONFLICT', 'OTHER') THEN cause
    WHEN code = 'CONFLICT' THEN 'CONFLICT'
    WHEN field IS NULL AND reason ~ '^(not JSON|not UTF-8|the arrival has |expected a JSON object)' THEN 'UNREADABLE'
    WHEN field IS NULL THEN 'OTHER'
    WHEN field = 'schema_version' THEN 'SCHEMA_VERSION'
    WHEN reason ~ '^(missing field|unknown field|invalid type)' THEN 'FIELD'
    WHEN field IN ('kind', 'match_decision', 'routing_tier') THEN 'UNKNOWN_VALUE'
    WHEN field ~ '(^|[.])currency$' THEN 'CURRENCY'
    WHEN field = 'source_hash' THEN 'SOURCE_HASH'
    WHEN field ~ '(date|_at)$' THEN 'DATE'
    WHEN field ~ '(amount|rate|units|quantity|confidence)[^.]*$' THEN 'AMOUNT'
    WHEN field IN ('idempotency_key', 'partition_key', 'ledger_entity', 'group_key', 'reverses', 'prepared_by', 'counterparty') THEN 'NAME'
    ELSE 'FIELD' END;

-- What can be read of an arrival, whatever it is: an object of texts. An amount stands here only as a plain decimal of at most 28 digits,
-- a currency only as three capital letters, an identifier only as one.
CREATE FUNCTION countersign.letter_context(p_original bytea) RETURNS jsonb LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v record;
    v_uuid CONSTANT text := '^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$';
BEGIN
    BEGIN
        SELECT * INTO STRICT v FROM json_to_record(convert_from(p_original, 'UTF8')::json) AS r (
            idempotency_key text, kind text, partition_key text, ledger_entity text, trace_id text, correlation_id text, source_hash text,
            match_decision text, currency text, variance_amount text);
    EXCEPTION WHEN OTHERS THEN
        RETURN '{}';
    END;
    RETURN jsonb_strip_nulls(jsonb_build_object(
        'key', CASE WHEN length(v.idempotency_key) BETWEEN 1 AND 200 THEN v.idempotency_key END,
        'kind', CASE WHEN length(v.kind) BETWEEN 1 AND 50 THEN v.kind END,
        'partition', CASE WHEN length(v.partition_key) BETWEEN 1 AND 200 THEN v.partition_key END,
        'entity', CASE WHEN length(v.ledger_entity) BETWEEN 1 AND 200 THEN v.ledger_entity END,
        'trace', CASE WHEN v.trace_id ~ v_uuid THEN lower(v.trace_id) END,
        'correlation', CASE WHEN v.correlation_id ~ v_uuid THEN lower(v.correlation_id) END,
        'source_hash', CASE WHEN length(v.source_hash) BETWEEN 1 AND 200 THEN v.source_hash END,
        'match', CASE WHEN v.match_decision IN ('MATCHED', 'PARTIAL', 'UNMATCHED') THEN v.match_decision END,
        'currency', CASE WHEN v.currency ~ '^[A-Z]{3}$' THEN v.currency END,
        'amount', CASE WHEN v.variance_amount ~ '^-?[0-9]{1,28}([.][0-9]{1,28})?$' AND length(translate(v.variance_amount, '-.', '')) <= 28 THEN v.variance_amount END));
END $$;

-- status: OPEN → TAKEN → REPLAYED, or DISCARDING → DISCARDED once a second person has agreed. A taken one may be put back; a replay
--   that fails leaves it OPEN.
-- cause, field, reason: of the last attempt; the first one's are in `dead_letter_event`.
-- attempts: the arrival and every replay. revision: the last correction; 0 is the original. events: the last step.
-- context: what could be read of it, as it was last corrected.
-- workstation: which one gave it up; NULL for an arrival. Then exception_id and version say what it is about and sign_off_key which
--   decision, if any; for an arrival exception_id is what it became, and outcome how.
ALTER TABLE countersign.dead_letter
    ADD cause text NOT NULL DEFAULT 'OTHER' CHECK (cause IN ('UNREADABLE', 'SCHEMA_VERSION', 'FIELD', 'UNKNOWN_VALUE', 'NAME', 'DATE', 'CURRENCY', 'AMOUNT', 'KEY',
        'SOURCE_HASH', 'AGREEMENT', 'VENDOR', 'LINE_ITEMS', 'EMPTY_EXTRACTION', 'CONFLICT', 'SCORING', 'SIGN_OFF', 'OTHER')),
    ADD status text NOT NULL DEFAULT 'OPEN' CHECK (status IN ('OPEN', 'TAKEN', 'REPLAYED', 'DISCARDING', 'DISCARDED')),
    ADD owner text,
    ADD attempts integer NOT NULL DEFAULT 1 CHECK (attempts > 0),
    ADD revision integer NOT NULL DEFAULT 0,
    ADD events integer NOT NULL DEFAULT 0,
    ADD context jsonb NOT NULL DEFAULT '{}',
    ADD exception_id bigint,
    ADD outcome text,
    ADD version integer,
    ADD sign_off_key bytea NOT NULL DEFAULT '',
    ADD workstation uuid,
    ADD discard_by text,
    ADD discard_reason text,
    ADD CHECK ((status = 'TAKEN') <= (owner IS NOT NULL)),
    ADD CHECK ((status IN ('DISCARDING', 'DISCARDED')) = (discard_by IS NOT NULL AND discard_reason IS NOT NULL)),
    ADD CHECK ((workstation IS NOT NULL) = (cause IN ('SCORING', 'SIGN_OFF'))),
    DROP CONSTRAINT dead_letter_original_hash_key;
CREATE UNIQUE INDEX dead_letter_arrival ON countersign.dead_letter (original_hash) WHERE workstation IS NULL;
CREATE UNIQUE INDEX dead_letter_given_up ON countersign.dead_letter (cause, exception_id, version, sign_off_key) WHERE workstation IS NOT NULL;
CREATE INDEX dead_letter_undone ON countersign.dead_letter (first_at, id) WHERE status IN ('OPEN', 'TAKEN', 'DISCARDING');

-- Corrections, each the whole text.
CREATE TABLE countersign.dead_letter_revision (
    dead_letter  bigint      NOT NULL,
    revision     integer     NOT NULL CHECK (revision > 0),
    body         text        NOT NULL,
    body_hash    bytea       NOT NULL,
    made_by      text        NOT NULL,
    made_at      timestamptz NOT NULL,
    PRIMARY KEY (dead_letter, revision)
);
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON countersign.dead_letter_revision EXECUTE FUNCTION countersign.append_only();

-- Every step, with how it left the letter; each has its audit record, which holds hashes of what quotes the letter.
CREATE TABLE countersign.dead_letter_event (
    dead_letter   bigint      NOT NULL,
    no            integer     NOT NULL CHECK (no > 0),
    at            timestamptz NOT NULL,
    event         text        NOT NULL,
    actor         text        NOT NULL,
    status        text        NOT NULL,
    owner         text,
    attempts      integer     NOT NULL,
    revision      integer     NOT NULL,
    cause         text        NOT NULL,
    field         text,
    reason        text        NOT NULL,
    outcome       text,
    exception_id  bigint,
    said          text,
    body_hash     bytea,
    PRIMARY KEY (dead_letter, no)
);
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON countersign.dead_letter_event EXECUTE FUNCTION countersign.append_only();

-- What earlier releases kept.
UPDATE countersign.dead_letter d SET
    cause = countersign.letter_cause(NULL, d.code, d.field, d.reason), context = countersign.letter_context(d.original), events = 1;
INSERT INTO countersign.dead_letter_event (dead_letter, no, at, event, actor, status, attempts, revision, cause, field, reason)
SELECT d.id, 1, coalesce(a.at, d.first_at), 'DEAD_LETTERED', coalesce(a.actor, ''), 'OPEN', 1, 0, d.cause, d.field, d.reason
FROM countersign.dead_letter d LEFT JOIN countersign.audit_event a
    ON a.partition_key = '' AND a.event = 'DEAD_LETTERED' AND a.detail ->> 'dead_letter' = d.id::text
ORDER BY d.id;

-- How one step leaves one letter.
--   said: a person's reason for discarding. body_hash: of a correction.
CREATE TYPE countersign.letter_step AS (
    letter bigint, status text, owner text, attempts integer, revision integer, cause text, field text, reason text, outcome text,
    exception_id bigint, said text, body_hash bytea);

-- What a record says of why something is a dead letter, without saying it.
CREATE FUNCTION countersign.letter_why(field text, reason text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN encode(sha256(convert_to(coalesce(field, '') || E'\n' || reason, 'UTF8')), 'hex');

-- Takes one step with each of these letters, all of which the caller has locked, and records it.
CREATE FUNCTION countersign.letter_steps(p_workstation uuid, p_event text, p_steps countersign.letter_step[]) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET jit = off AS $$
DECLARE
    v_at timestamptz;
    v_chain countersign.installation;
    v_key countersign.audit_key;
BEGIN
    IF coalesce(cardinality(p_steps), 0) = 0 THEN
        RETURN;
    END IF;
    SELECT * INTO STRICT v_chain FROM countersign.installation FOR NO KEY UPDATE;
    v_key := countersign.sealing_key();
    v_at := clock_timestamp();
    WITH step AS MATERIALIZED (
        SELECT s.*, d.events + 1 AS no, row_number() OVER (ORDER BY s.letter) AS place, d.context, d.discard_by AS asked_by, d.discard_reason AS asked_reason,
               jsonb_strip_nulls(jsonb_build_object('dead_letter', s.letter, 'no', d.events + 1, 'status', s.status, 'owner', s.owner, 'attempts', s.attempts,
                   'revision', s.revision, 'cause', s.cause, 'why', countersign.letter_why(s.field, s.reason), 'body_hash', encode(s.body_hash, 'hex'), 'said', s.said))
               || CASE WHEN p_event = 'DEAD_LETTERED' THEN jsonb_build_object('original_hash', encode(d.original_hash, 'hex'), 'origin', d.origin, 'line', d.line)
                       ELSE '{}' END AS detail,
               CASE WHEN p_event = 'DEAD_LETTERED' THEN d.code ELSE s.outcome END AS recorded
        FROM unnest(p_steps) AS s JOIN countersign.dead_letter d ON d.id = s.letter
    ), moved AS (
        UPDATE countersign.dead_letter d SET
            status = s.status, owner = s.owner, attempts = s.attempts, revision = s.revision, cause = s.cause, field = s.field, reason = s.reason,
            outcome = s.outcome, exception_id = s.exception_id, events = s.no,
            discard_by = CASE s.status WHEN 'DISCARDING' THEN session_user WHEN 'DISCARDED' THEN s.asked_by END,
            discard_reason = CASE s.status WHEN 'DISCARDING' THEN s.said WHEN 'DISCARDED' THEN s.asked_reason END
        FROM step s WHERE d.id = s.letter
    ), kept AS (
        INSERT INTO countersign.dead_letter_event (dead_letter, no, at, event, actor, status, owner, attempts, revision, cause, field, reason, outcome,
            exception_id, said, body_hash)
        SELECT s.letter, s.no, v_at, p_event, session_user, s.status, s.owner, s.attempts, s.revision, s.cause, s.field, s.reason, s.outcome,
               s.exception_id, s.said, s.body_hash
        FROM step s ORDER BY s.place
    ), chained AS MATERIALIZED (
        SELECT s.*, v_chain.chain_seq + s.place AS chain_seq, (s.context ->> 'trace')::uuid AS trace_id,
               countersign.chain(CASE WHEN s.place = 1 THEN v_chain.chain_head ELSE '' END || countersign.audit_record('', v_chain.chain_seq + s.place, v_at, p_event,
                   session_user, p_workstation, s.exception_id, (s.context ->> 'trace')::uuid, s.context ->> 'source_hash', s.context ->> 'match', NULL, s.recorded,
                   s.detail)) OVER (ORDER BY s.place) AS chain_hash
        FROM step s
    ), audited AS (
        INSERT INTO countersign.audit_event (partition_key, chain_seq, at, event, actor, workstation, exception_id, trace_id, source_hash, match_decision,
            outcome, detail, chain_hash, key_id, mac)
        SELECT '', c.chain_seq, v_at, p_event, session_user, p_workstation, c.exception_id, c.trace_id, c.context ->> 'source_hash', c.context ->> 'match',
               c.recorded, c.detail, c.chain_hash, v_key.id, countersign.hmac(v_key.inner_pad, v_key.outer_pad, c.chain_hash)
        FROM chained c ORDER BY c.place
    )
    UPDATE countersign.installation SET chain_seq = c.chain_seq, chain_head = c.chain_hash
    FROM (SELECT c.chain_seq, c.chain_hash FROM chained c ORDER BY c.place DESC LIMIT 1) AS c;
END $$;

-- Keeps what passed no gate. The same original is one dead letter, however often it comes. An original over 16 MiB may be kept in part; of
-- any other the hash and the size are those of its bytes. At most 5000 a call, and 256 MiB.
CREATE FUNCTION countersign.dead_letter(
    p_original bytea[], p_original_hash bytea[], p_original_size bigint[], p_origin text[], p_line bigint[], p_code text[], p_class text[],
    p_field text[], p_reason text[], p_idempotency_key text[], p_cause text[]
) RETURNS TABLE (ordinal integer, fresh boolean)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET jit = off AS $$
#variable_conflict use_column
DECLARE
    v_now timestamptz := clock_timestamp();
    v_count integer := coalesce(cardinality(p_original), 0);
    v_bytes bigint;
    v_bad bigint;
    v_fresh bytea[];
    v_steps countersign.letter_step[];
BEGIN
    PERFORM countersign.read_committed();
    IF EXISTS (SELECT 1 FROM unnest(ARRAY[cardinality(p_original_hash), cardinality(p_original_size), cardinality(p_origin), cardinality(p_line), cardinality(p_code),
                   cardinality(p_class), cardinality(p_field), cardinality(p_reason), cardinality(p_idempotency_key), cardinality(p_cause)]) AS c
               WHERE coalesce(c, 0) <> v_count) THEN
        RAISE EXCEPTION 'dead_letter: its arrays are not of one length' USING ERRCODE = 'invalid_parameter_value';
    END IF;
    SELECT sum(length(o)) INTO v_bytes FROM unnest(p_original) AS o;
    IF v_count > 5000 OR v_bytes > 268435456 THEN
        RAISE EXCEPTION 'dead_letter takes at most 5000 originals and 256 MiB a call, not % of % bytes', v_count, v_bytes USING ERRCODE = 'program_limit_exceeded';
    END IF;
    SELECT min(i.n) INTO v_bad FROM unnest(p_original, p_original_hash, p_original_size) WITH ORDINALITY AS i (original, hash, size, n)
    WHERE (length(i.original) <= 16777216 AND length(i.hash) = 32
           AND CASE WHEN i.size = length(i.original) THEN sha256(i.original) = i.hash ELSE i.size > 16777216 END) IS NOT TRUE;
    IF v_bad IS NOT NULL THEN
        RAISE EXCEPTION 'dead_letter: hash or size of the original % of the call is not that of its bytes', v_bad USING ERRCODE = 'invalid_parameter_value',
            HINT = 'Only an original of more than 16777216 bytes is kept in part, with at most as many bytes.';
    END IF;
    WITH item AS (
        SELECT DISTINCT ON (i.hash) i.*
        FROM unnest(p_original, p_original_hash, p_original_size, p_origin, p_line, p_code, p_class, p_field, p_reason, p_idempotency_key, p_cause)
             WITH ORDINALITY AS i (original, hash, size, origin, line, code, class, field, reason, key, cause, n)
        ORDER BY i.hash, i.n
    ), kept AS (
        INSERT INTO countersign.dead_letter AS d (original, original_hash, original_size, origin, line, code, class, field, reason, idempotency_key, first_at, last_at,
            cause, context)
        SELECT i.original, i.hash, i.size, left(i.origin, 1000), i.line, left(i.code, 50), left(i.class, 50), left(i.field, 500), left(coalesce(i.reason, ''), 2000),
               left(i.key, 200), v_now, v_now, countersign.letter_cause(i.cause, i.code, i.field, i.reason), countersign.letter_context(i.original)
        FROM item i ORDER BY i.hash
        ON CONFLICT (original_hash) WHERE workstation IS NULL DO NOTHING
        RETURNING d.id, d.original_hash, d.cause, d.field, d.reason
    )
    SELECT array_agg(k.original_hash), array_agg(ROW(k.id, 'OPEN', NULL, 1, 0, k.cause, k.field, k.reason, NULL, NULL, NULL, NULL)::countersign.letter_step)
    INTO v_fresh, v_steps FROM kept k;
    -- Who works on a letter may wait for a partition, which the caller of this may hold: nobody waits for them here. One that comes again
    -- just then is not counted.
    UPDATE countersign.dead_letter d SET last_at = v_now, times = d.times + 1
    FROM (SELECT x.id FROM countersign.dead_letter x
          WHERE x.original_hash = ANY (p_original_hash) AND x.workstation IS NULL AND (x.original_hash = ANY (v_fresh)) IS NOT TRUE
          ORDER BY x.id FOR NO KEY UPDATE SKIP LOCKED) AS again
    WHERE d.id = again.id;
    PERFORM countersign.letter_steps(NULL, 'DEAD_LETTERED', v_steps);
    RETURN QUERY
    SELECT i.n::integer, coalesce(i.hash = ANY (v_fresh), false) AND i.n = min(i.n) OVER (PARTITION BY i.hash)
    FROM unnest(p_original_hash) WITH ORDINALITY AS i (hash, n);
END $$;

-- The same for producers that name no cause.
CREATE OR REPLACE FUNCTION countersign.dead_letter(
    p_original bytea[], p_original_hash bytea[], p_original_size bigint[], p_origin text[], p_line bigint[], p_code text[], p_class text[],
    p_field text[], p_reason text[], p_idempotency_key text[]
) RETURNS TABLE (ordinal integer, fresh boolean)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    SELECT d.ordinal, d.fresh FROM countersign.dead_letter(p_original, p_original_hash, p_original_size, p_origin, p_line, p_code, p_class, p_field, p_reason,
        p_idempotency_key, array_fill(NULL::text, ARRAY[coalesce(cardinality(p_original), 0)])) AS d;
END $$;

-- Who works at the desk, and for which ledger entities; NULL for all. A supervisor has no workstation, and works for all.
CREATE TYPE countersign.remediator AS (login text, entities text[], supervisor boolean);

-- Who is calling. A login of NULL was turned away. Nobody but a supervisor comes without a workstation.
CREATE FUNCTION countersign.at_desk(p_workstation uuid, p_call text) RETURNS countersign.remediator LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_who countersign.remediator;
    v_remediates boolean;
BEGIN
    PERFORM countersign.read_committed();
    IF p_workstation IS NULL THEN
        IF NOT pg_has_role(session_user, 'countersign_supervisor', 'USAGE') THEN
            RAISE EXCEPTION 'the login % is no supervisor: whoever is none works at the desk from their workstation', session_user
                USING ERRCODE = 'insufficient_privilege';
        END IF;
        v_who.login := session_user;
        v_who.supervisor := true;
        RETURN v_who;
    END IF;
    IF countersign.turned_away(p_workstation, p_call) THEN
        RETURN NULL;
    END IF;
    v_who.login := countersign.caller(p_workstation);
    v_who.supervisor := false;
    SELECT r.ledger_entities, r.remediates INTO v_who.entities, v_remediates FROM countersign.reviewer r WHERE r.login = v_who.login;
    IF v_remediates IS NOT TRUE THEN
        RAISE EXCEPTION 'the reviewer % has no right to the desk of dead letters', session_user
            USING ERRCODE = 'CS006', HINT = 'Ask a supervisor: countersign-admin reviewer dead-letters LOGIN --on.';
    END IF;
    RETURN v_who;
END $$;

-- A letter whose entity cannot be read may be anybody's.
CREATE FUNCTION countersign.may_see(who countersign.remediator, context jsonb) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN coalesce(context ->> 'entity' = ANY ((who).entities), true);

CREATE FUNCTION countersign.few_letters(p_ids bigint[]) RETURNS void LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF (cardinality(p_ids) BETWEEN 1 AND 100 AND (SELECT count(DISTINCT i) = count(*) FROM unnest(p_ids) AS i)) IS NOT TRUE THEN
        RAISE EXCEPTION 'a call takes 1 to 100 dead letters, each once, not %', coalesce(cardinality(p_ids), 0) USING ERRCODE = 'program_limit_exceeded';
    END IF;
END $$;

-- What each person sent in or rehearsed in the minute that is said; all their logins are one person.
CREATE TABLE countersign.desk_use (
    person   text        NOT NULL,
    what     text        NOT NULL,
    minute   timestamptz NOT NULL,
    letters  integer     NOT NULL,
    PRIMARY KEY (person, what)
);

-- How many of `p_letters` a person may still do in this minute; they are counted as done. Otherwise, how long to wait.
CREATE FUNCTION countersign.desk_allowance(p_what text, p_letters integer, p_a_minute integer, OUT allowed integer, OUT wait_s integer) LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_person text := (countersign.logins_of(session_user))[1];
    v_used integer;
    v_now timestamptz;
BEGIN
    INSERT INTO countersign.desk_use (person, what, minute, letters) VALUES (v_person, p_what, '-infinity', 0) ON CONFLICT DO NOTHING;
    PERFORM 1 FROM countersign.desk_use u WHERE u.person = v_person AND u.what = p_what FOR UPDATE;
    v_now := clock_timestamp();
    SELECT CASE WHEN u.minute = date_trunc('minute', v_now) THEN u.letters ELSE 0 END INTO STRICT v_used
    FROM countersign.desk_use u WHERE u.person = v_person AND u.what = p_what;
    allowed := greatest(least(p_letters, p_a_minute - v_used), 0);
    wait_s := 60 - least(extract(second FROM v_now), 59)::integer;
    UPDATE countersign.desk_use u SET minute = date_trunc('minute', v_now), letters = v_used + allowed WHERE u.person = v_person AND u.what = p_what;
END $$;

-- Undone letters by cause: how many, since when, and what the close lacks, by currency and decimal places. One row; none for whoever
-- is turned away.
CREATE FUNCTION countersign.letter_causes(p_workstation uuid) RETURNS TABLE (causes jsonb)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET jit = off AS $$
#variable_conflict use_column
DECLARE
    v_who countersign.remediator := countersign.at_desk(p_workstation, 'letter_causes');
BEGIN
    IF v_who.login IS NULL THEN
        RETURN;
    END IF;
    RETURN QUERY
    WITH letter AS MATERIALIZED (
        SELECT d.cause, d.status, d.first_at, d.context ->> 'currency' AS currency, abs((d.context ->> 'amount')::numeric) AS amount
        FROM countersign.dead_letter d WHERE d.status IN ('OPEN', 'TAKEN', 'DISCARDING') AND countersign.may_see(v_who, d.context)
    ), sums AS (
        SELECT l.cause, jsonb_agg(jsonb_build_object('currency', l.currency, 'places', l.places, 'letters', l.letters, 'amount', l.amount::text) ORDER BY l.currency, l.places) AS amounts
        FROM (SELECT l.cause, l.currency, scale(l.amount) AS places, count(*) AS letters, sum(l.amount) AS amount FROM letter l
              WHERE l.currency IS NOT NULL AND l.amount IS NOT NULL GROUP BY 1, 2, 3) AS l GROUP BY l.cause
    ), counts AS (
        SELECT l.cause, count(*) FILTER (WHERE l.status <> 'TAKEN') AS open, count(*) FILTER (WHERE l.status = 'TAKEN') AS taken, min(l.first_at) AS oldest,
               count(*) FILTER (WHERE l.currency IS NULL OR l.amount IS NULL) AS without_amount
        FROM letter l GROUP BY l.cause
    )
    SELECT coalesce(jsonb_agg(jsonb_build_object('cause', c.cause, 'open', c.open, 'taken', c.taken, 'without_amount', c.without_amount,
               'oldest', to_char(c.oldest AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'amounts', coalesce(s.amounts, '[]')) ORDER BY c.open + c.taken DESC, c.cause), '[]')
    FROM counts c LEFT JOIN sums s ON s.cause = c.cause;
END $$;

-- A letter as lists tell it.
CREATE FUNCTION countersign.letter_line(d countersign.dead_letter) RETURNS jsonb LANGUAGE sql STABLE PARALLEL SAFE
RETURN jsonb_build_object('id', (d).id, 'status', (d).status, 'cause', (d).cause, 'field', (d).field, 'reason', (d).reason, 'origin', (d).origin, 'line', (d).line,
    'first_at', to_char((d).first_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'last_at', to_char((d).last_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
    'times', (d).times, 'attempts', (d).attempts, 'owner', (d).owner, 'key', coalesce((d).context ->> 'key', (d).idempotency_key), 'kind', (d).context ->> 'kind',
    'entity', (d).context ->> 'entity', 'currency', (d).context ->> 'currency', 'amount', (d).context ->> 'amount', 'corrections', (d).revision,
    'outcome', (d).outcome, 'exception', (d).exception_id, 'discard_by', (d).discard_by, 'discard_reason', (d).discard_reason);

-- Letters, oldest first, at most 2,000, and how many there are beyond. NULL or empty: every cause, status or entity. One row; none for
-- whoever is turned away.
CREATE FUNCTION countersign.letters(p_workstation uuid, p_causes text[], p_statuses text[], p_entities text[]) RETURNS TABLE (letters jsonb, more integer)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET jit = off AS $$
#variable_conflict use_column
DECLARE
    v_who countersign.remediator := countersign.at_desk(p_workstation, 'letters');
BEGIN
    IF v_who.login IS NULL THEN
        RETURN;
    END IF;
    RETURN QUERY
    WITH found AS MATERIALIZED (
        SELECT d.id, d.first_at, d.origin, d.line FROM countersign.dead_letter d
        WHERE (coalesce(cardinality(p_causes), 0) = 0 OR d.cause = ANY (p_causes)) AND (coalesce(cardinality(p_statuses), 0) = 0 OR d.status = ANY (p_statuses))
          AND (coalesce(cardinality(p_entities), 0) = 0 OR d.context ->> 'entity' = ANY (p_entities)) AND countersign.may_see(v_who, d.context)
    ), told AS (
        SELECT * FROM found f ORDER BY f.first_at, f.origin, f.line, f.id LIMIT 2000
    )
    SELECT coalesce(jsonb_agg(countersign.letter_line(d) ORDER BY d.first_at, d.origin, d.line, d.id), '[]'), greatest((SELECT count(*) FROM found) - 2000, 0)::integer
    FROM told t JOIN countersign.dead_letter d ON d.id = t.id;
END $$;

-- One letter: its original's first 1,000,000 bytes, its corrections and its steps, oldest first. One row, of NULLs where there is none that
-- the caller may see; none for whoever is turned away.
CREATE FUNCTION countersign.letter(p_workstation uuid, p_id bigint)
RETURNS TABLE (letter jsonb, original bytea, original_size bigint, revisions integer[], made_by text[], made_at timestamptz[], bodies text[], history jsonb)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET jit = off AS $$
#variable_conflict use_column
DECLARE
    v_who countersign.remediator := countersign.at_desk(p_workstation, 'letter');
BEGIN
    IF v_who.login IS NULL THEN
        RETURN;
    END IF;
    RETURN QUERY
    SELECT CASE WHEN d.id IS NOT NULL THEN countersign.letter_line(d) END, substring(d.original FOR 1000000), d.original_size, r.revisions, r.made_by, r.made_at, r.bodies,
           (SELECT jsonb_agg(jsonb_build_object('at', to_char(e.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'event', e.event, 'actor', e.actor,
                       'details', jsonb_strip_nulls(jsonb_build_object('outcome', e.outcome, 'field', e.field, 'said', e.said,
                           'reason', CASE WHEN e.event IN ('DEAD_LETTERED', 'LETTER_REPLAYED') AND e.status = 'OPEN' THEN e.reason END,
                           'revision', CASE WHEN e.event = 'LETTER_CORRECTED' THEN e.revision::text END, 'attempt', e.attempts::text))) ORDER BY e.no)
            FROM countersign.dead_letter_event e WHERE e.dead_letter = d.id)
    FROM (SELECT 1) AS one
    LEFT JOIN countersign.dead_letter d ON d.id = p_id AND countersign.may_see(v_who, d.context)
    LEFT JOIN LATERAL (
        SELECT array_agg(v.revision ORDER BY v.revision) AS revisions, array_agg(v.made_by ORDER BY v.revision) AS made_by,
               array_agg(v.made_at ORDER BY v.revision) AS made_at, array_agg(v.body ORDER BY v.revision) AS bodies
        FROM countersign.dead_letter_revision v WHERE v.dead_letter = d.id) AS r ON true;
END $$;

-- Whom a text names as its preparers, as far as it can be read: of several lists all, or the last, which is the one that counts.
CREATE FUNCTION countersign.preparers_in(p_text bytea, p_all boolean) RETURNS text[] LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_text text;
    v_utf8 boolean := true;
BEGIN
    BEGIN
        v_text := convert_from(p_text, 'UTF8');
    EXCEPTION WHEN OTHERS THEN
        v_text := convert_from(p_text, 'LATIN1');
        v_utf8 := false;
    END;
    -- An arrival has at most 50 preparers: beyond 1,000 nothing goes in, whoever is among them.
    RETURN ARRAY(
        SELECT p.name #>> '{}'
        FROM (SELECT e.value, e.n, max(e.n) OVER () AS last
              FROM json_each(replace(v_text, '\u0000', '\ufffd')::json) WITH ORDINALITY AS e (key, value, n) WHERE e.key = 'prepared_by') AS l
        CROSS JOIN LATERAL json_array_elements(CASE json_typeof(l.value) WHEN 'array' THEN l.value ELSE json_build_array(l.value) END) AS p (name)
        WHERE (p_all OR l.n = l.last) AND countersign.is_name(p.name::jsonb) AND countersign.folded(p.name #>> '{}') <> ''
          AND (v_utf8 OR p.name #>> '{}' ~ '^[ -~]+$')
        LIMIT 1001);
EXCEPTION WHEN OTHERS THEN
    RETURN '{}';
END $$;

-- Who is missing among the preparers of a text that is to go in for a letter: whom its original or a correction named, and, where that is
-- asked too, who corrected it.
CREATE FUNCTION countersign.letter_lacks(p_letter bigint, p_original bytea, p_text bytea, p_correctors boolean) RETURNS text[] LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_there text[] := countersign.folded_all(countersign.preparers_in(p_text, false));
BEGIN
    RETURN ARRAY(
        SELECT f.name
        FROM (SELECT DISTINCT ON (countersign.folded(x.name)) x.*
              FROM (SELECT o.name, 0 AS place, o.n FROM unnest(countersign.preparers_in(p_original, true)) WITH ORDINALITY AS o (name, n)
                    UNION ALL
                    SELECT c.name, r.revision, c.n
                    FROM countersign.dead_letter_revision r CROSS JOIN LATERAL unnest(countersign.preparers_in(convert_to(r.body, 'UTF8'), true)) WITH ORDINALITY AS c (name, n)
                    WHERE r.dead_letter = p_letter
                    UNION ALL
                    SELECT r.made_by, 1000, r.revision FROM countersign.dead_letter_revision r WHERE r.dead_letter = p_letter AND p_correctors) AS x
              ORDER BY countersign.folded(x.name), x.place, x.n) AS f
        WHERE countersign.folded(f.name) <> ALL (v_there) ORDER BY f.place, f.n);
END $$;

-- The text of letters as it was last corrected, with those whom it lacks among its preparers, in the order that is asked: as many as have
-- 32 MiB together, and at least one. No text where nothing can be sent in again.
CREATE FUNCTION countersign.letter_bodies(p_workstation uuid, p_ids bigint[])
RETURNS TABLE (letter bigint, revision integer, body bytea, lacking text[])
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET jit = off AS $$
#variable_conflict use_column
DECLARE
    v_who countersign.remediator := countersign.at_desk(p_workstation, 'letter_bodies');
BEGIN
    PERFORM countersign.few_letters(p_ids);
    IF v_who.login IS NULL THEN
        RETURN;
    END IF;
    RETURN QUERY
    WITH asked AS MATERIALIZED (
        SELECT i.id, i.n, coalesce(d.revision, 0) AS revision,
               coalesce(octet_length(v.body), CASE WHEN d.status IN ('OPEN', 'TAKEN') AND d.workstation IS NULL AND length(d.original) = d.original_size THEN length(d.original) END) AS size
        FROM unnest(p_ids) WITH ORDINALITY AS i (id, n)
        LEFT JOIN countersign.dead_letter d ON d.id = i.id AND countersign.may_see(v_who, d.context)
        LEFT JOIN countersign.dead_letter_revision v ON v.dead_letter = d.id AND v.revision = d.revision AND d.status IN ('OPEN', 'TAKEN')
    ), within AS (
        SELECT a.*, sum(coalesce(a.size, 0)) OVER (ORDER BY a.n) AS bytes FROM asked a
    )
    SELECT w.id, w.revision, CASE WHEN w.size IS NOT NULL THEN coalesce(convert_to(v.body, 'UTF8'), d.original) END,
           CASE WHEN w.size IS NOT NULL AND v.body IS NOT NULL THEN countersign.letter_lacks(w.id, d.original, convert_to(v.body, 'UTF8'), true) ELSE '{}' END
    FROM within w LEFT JOIN countersign.dead_letter d ON d.id = w.id
    LEFT JOIN countersign.dead_letter_revision v ON v.dead_letter = w.id AND v.revision = w.revision
    WHERE w.bytes <= 33554432 OR w.n = 1 ORDER BY w.n;
END $$;

-- Takes letters to work on, or puts them back; also one that its asker does not want to discard any more. A supervisor puts back
-- anybody's. An answer for each: TAKEN, PUT_BACK, NOT_YOURS, DISCARDING, DONE.
CREATE FUNCTION countersign.letter_take(p_workstation uuid, p_ids bigint[], p_back boolean) RETURNS TABLE (ordinal integer, outcome text, detail text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET jit = off AS $$
#variable_conflict use_column
DECLARE
    v_who countersign.remediator := countersign.at_desk(p_workstation, 'letter_take');
    v_steps countersign.letter_step[];
BEGIN
    PERFORM countersign.few_letters(p_ids);
    IF v_who.login IS NULL THEN
        RETURN;
    END IF;
    PERFORM 1 FROM countersign.dead_letter d WHERE d.id = ANY (p_ids) ORDER BY d.id FOR NO KEY UPDATE;
    RETURN QUERY
    SELECT i.n::integer,
           CASE WHEN d.id IS NULL THEN 'NOT_YOURS'
                WHEN d.status IN ('REPLAYED', 'DISCARDED') THEN 'DONE'
                WHEN p_back AND (d.status = 'OPEN' OR v_who.supervisor OR v_who.login IN (d.owner, d.discard_by)) THEN 'PUT_BACK'
                WHEN NOT p_back AND d.status = 'DISCARDING' THEN 'DISCARDING'
                WHEN NOT p_back AND (d.status = 'OPEN' OR d.owner = v_who.login) THEN 'TAKEN'
                ELSE 'NOT_YOURS' END,
           CASE WHEN d.id IS NULL THEN 'there is no such dead letter that you may see'
                WHEN d.status = 'REPLAYED' THEN 'it went in: ' || d.outcome
                WHEN d.status = 'DISCARDED' THEN 'it was discarded'
                WHEN d.status = 'DISCARDING' AND NOT (p_back AND (v_who.supervisor OR d.discard_by = v_who.login)) THEN d.discard_by || ' asked for it to be discarded'
                WHEN d.status = 'TAKEN' AND d.owner <> v_who.login AND NOT (p_back AND v_who.supervisor) THEN d.owner || ' works on it' END
    FROM unnest(p_ids) WITH ORDINALITY AS i (id, n)
    LEFT JOIN countersign.dead_letter d ON d.id = i.id AND countersign.may_see(v_who, d.context) ORDER BY i.n;
    SELECT array_agg(ROW(d.id, CASE WHEN p_back THEN 'OPEN' ELSE 'TAKEN' END, CASE WHEN NOT p_back THEN v_who.login END, d.attempts, d.revision, d.cause, d.field, d.reason,
               d.outcome, d.exception_id, NULL, NULL)::countersign.letter_step)
    INTO v_steps FROM countersign.dead_letter d
    WHERE d.id = ANY (p_ids) AND countersign.may_see(v_who, d.context)
      AND CASE WHEN p_back THEN d.status IN ('TAKEN', 'DISCARDING') AND (v_who.supervisor OR v_who.login IN (d.owner, d.discard_by)) ELSE d.status = 'OPEN' END;
    PERFORM countersign.letter_steps(p_workstation, CASE WHEN p_back THEN 'LETTER_PUT_BACK' ELSE 'LETTER_TAKEN' END, v_steps);
END $$;

-- Keeps a correction of a letter that the caller has taken, made from the revision `p_after`. Whoever corrects is a preparer of what goes
-- in. At most 50 of a letter, and 64 MiB. An answer: KEPT, CONFLICT, NOT_YOURS, DISCARDING, DONE, REFUSED.
CREATE FUNCTION countersign.letter_correct(p_workstation uuid, p_id bigint, p_after integer, p_body text) RETURNS TABLE (outcome text, detail text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET jit = off AS $$
#variable_conflict use_column
DECLARE
    v_who countersign.remediator := countersign.at_desk(p_workstation, 'letter_correct');
    v_letter countersign.dead_letter;
    v_last countersign.dead_letter_revision;
    v_context jsonb;
BEGIN
    IF v_who.login IS NULL THEN
        RETURN;
    END IF;
    IF (p_after >= 0 AND octet_length(p_body) BETWEEN 1 AND 16777216) IS NOT TRUE THEN
        RAISE EXCEPTION 'a correction has the revision it was made from, and 1 to 16777216 bytes, not %', coalesce(octet_length(p_body), 0)
            USING ERRCODE = 'program_limit_exceeded';
    END IF;
    SELECT * INTO v_letter FROM countersign.dead_letter d WHERE d.id = p_id AND countersign.may_see(v_who, d.context) FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN QUERY SELECT 'NOT_YOURS', 'there is no such dead letter that you may see';
        RETURN;
    END IF;
    IF v_letter.status IN ('REPLAYED', 'DISCARDED') THEN
        RETURN QUERY SELECT 'DONE', CASE v_letter.status WHEN 'REPLAYED' THEN 'it went in: ' || v_letter.outcome ELSE 'it was discarded' END;
        RETURN;
    END IF;
    IF v_letter.status = 'DISCARDING' THEN
        RETURN QUERY SELECT 'DISCARDING', v_letter.discard_by || ' asked for it to be discarded';
        RETURN;
    END IF;
    IF v_letter.status <> 'TAKEN' OR v_letter.owner <> v_who.login THEN
        RETURN QUERY SELECT 'NOT_YOURS', CASE v_letter.status WHEN 'TAKEN' THEN v_letter.owner || ' works on it' ELSE 'take it first' END;
        RETURN;
    END IF;
    IF v_letter.workstation IS NOT NULL THEN
        RETURN QUERY SELECT 'REFUSED', 'it is about the exception ' || v_letter.exception_id || ', which is corrected by its producer';
        RETURN;
    END IF;
    SELECT * INTO v_last FROM countersign.dead_letter_revision r WHERE r.dead_letter = p_id AND r.revision = v_letter.revision;
    IF v_letter.revision = p_after + 1 AND v_last.body = p_body AND v_last.made_by = v_who.login THEN
        RETURN QUERY SELECT 'KEPT', NULL;
        RETURN;
    END IF;
    IF v_letter.revision <> p_after THEN
        RETURN QUERY SELECT 'CONFLICT', v_last.made_by || ' corrected it meanwhile: it is at revision ' || v_letter.revision;
        RETURN;
    END IF;
    IF coalesce(convert_to(v_last.body, 'UTF8'), v_letter.original) = convert_to(p_body, 'UTF8') THEN
        RETURN QUERY SELECT 'REFUSED', 'nothing was corrected';
        RETURN;
    END IF;
    v_context := countersign.letter_context(convert_to(p_body, 'UTF8'));
    IF NOT countersign.may_see(v_who, v_context) THEN
        RETURN QUERY SELECT 'REFUSED', 'its ledger entity would be one that is not yours';
        RETURN;
    END IF;
    IF v_letter.revision >= 50 OR octet_length(p_body) + (SELECT coalesce(sum(octet_length(r.body)), 0) FROM countersign.dead_letter_revision r WHERE r.dead_letter = p_id) > 67108864 THEN
        RETURN QUERY SELECT 'REFUSED', 'a dead letter is corrected at most 50 times, with at most 67108864 bytes together';
        RETURN;
    END IF;
    INSERT INTO countersign.dead_letter_revision (dead_letter, revision, body, body_hash, made_by, made_at)
    VALUES (p_id, p_after + 1, p_body, sha256(convert_to(p_body, 'UTF8')), v_who.login, clock_timestamp());
    UPDATE countersign.dead_letter d SET context = d.context || v_context WHERE d.id = p_id;
    PERFORM countersign.letter_steps(p_workstation, 'LETTER_CORRECTED', ARRAY[ROW(p_id, 'TAKEN', v_who.login, v_letter.attempts, p_after + 1, v_letter.cause, v_letter.field,
        v_letter.reason, v_letter.outcome, v_letter.exception_id, NULL, sha256(convert_to(p_body, 'UTF8')))::countersign.letter_step]);
    RETURN QUERY SELECT 'KEPT', NULL;
END $$;

-- What is wrong with a text that is to go in for a letter; NULL if nothing is. It is the letter as it was last corrected, with everyone who
-- corrected it and whom any of its texts named among the preparers, and of an entity of the caller's. Its key and its trace are those that
-- came, unless that very field was at fault.
CREATE FUNCTION countersign.letter_fault(p_who countersign.remediator, p_letter countersign.dead_letter, p_body text) RETURNS text LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_is jsonb;
    v_was jsonb;
    v_lacks text[];
    v_other record;
BEGIN
    BEGIN
        v_is := p_body::jsonb;
        v_was := coalesce((SELECT r.body FROM countersign.dead_letter_revision r WHERE r.dead_letter = p_letter.id AND r.revision = p_letter.revision),
                          convert_from(p_letter.original, 'UTF8'))::jsonb;
    EXCEPTION WHEN OTHERS THEN
        RETURN 'it is no JSON document';
    END;
    IF (jsonb_typeof(v_is) = 'object' AND jsonb_typeof(v_was) = 'object'
           AND jsonb_typeof(v_is -> 'prepared_by') = 'array' AND jsonb_typeof(v_was -> 'prepared_by') = 'array'
           AND v_is - 'prepared_by' = v_was - 'prepared_by') IS NOT TRUE THEN
        RETURN 'it is not the dead letter as it was last corrected';
    END IF;
    v_lacks := countersign.letter_lacks(p_letter.id, p_letter.original, convert_to(p_body, 'UTF8'), true);
    IF cardinality(v_lacks) > 0 THEN
        RETURN 'prepared_by lacks ' || v_lacks[1] || ', who prepared or corrected it';
    END IF;
    SELECT f.field, f.was INTO v_other
    FROM (SELECT countersign.letter_context(p_letter.original) AS c) AS o
    CROSS JOIN LATERAL (VALUES ('idempotency_key', o.c ->> 'key', v_is ->> 'idempotency_key'), ('trace_id', o.c ->> 'trace', lower(v_is ->> 'trace_id'))) AS f (field, was, is_now)
    WHERE f.was <> f.is_now
      AND NOT EXISTS (SELECT 1 FROM countersign.dead_letter_event e
                      WHERE e.dead_letter = p_letter.id AND e.field = f.field AND e.cause IN ('KEY', 'NAME', 'FIELD'))
    LIMIT 1;
    IF FOUND THEN
        RETURN v_other.field || ' is no more ' || v_other.was || ', as it came, and was not at fault: another key or trace is another arrival, which its producer sends';
    END IF;
    RETURN CASE WHEN NOT countersign.may_see(p_who, jsonb_build_object('entity', v_is -> 'ledger_entity')) THEN 'its ledger entity is not yours' END;
END $$;

CREATE TYPE countersign.letter_answer AS (n integer, letter bigint, outcome text, exception_id bigint, field text, detail text, cause text, tried boolean);

-- Sends letters in again, or rehearses it, which changes nothing. Each comes with the revision that was judged and either the body that
-- passed the gates of whoever calls, or why it did not, with a cause of arrivals and a reason; of a text that nobody corrected the letter
-- keeps its own. At most 100 letters and 64 MiB a call, and for one person 600 letters a minute.
-- An answer for each, which may be asked for again:
--   ENQUEUED, CORRECTED, DUPLICATE, RELEASED   it goes in, or went in before;
--   REFUSED, CONFLICT                          it stays open, with the new reason; without an attempt where its text is not the letter's;
--   LATER                                      nothing happened: after so many seconds as the detail says;
--   NOT_YOURS, DISCARDING, DONE                nothing happened.
CREATE FUNCTION countersign.letter_replay(p_workstation uuid, p_ids bigint[], p_revisions integer[], p_bodies text[], p_causes text[], p_fields text[], p_reasons text[],
    p_rehearse boolean)
RETURNS TABLE (ordinal integer, outcome text, exception_id bigint, field text, detail text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET jit = off SET datestyle = 'ISO, YMD' SET timezone = 'UTC' AS $$
#variable_conflict use_column
DECLARE
    v_who countersign.remediator := countersign.at_desk(p_workstation, 'letter_replay');
    v_allowed integer;
    v_wait integer;
    v_answers countersign.letter_answer[];
    v_sent text[];
    v_places integer[];
    v_taken countersign.letter_answer[];
    v_steps countersign.letter_step[];
BEGIN
    PERFORM countersign.few_letters(p_ids);
    IF EXISTS (SELECT 1 FROM unnest(ARRAY[cardinality(p_revisions), cardinality(p_bodies), cardinality(p_causes), cardinality(p_fields), cardinality(p_reasons)]) AS c
               WHERE c IS DISTINCT FROM cardinality(p_ids)) OR p_rehearse IS NULL THEN
        RAISE EXCEPTION 'letter_replay: its arrays are not of one length' USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF EXISTS (SELECT 1 FROM unnest(p_bodies, p_causes, p_fields, p_reasons) AS i (body, cause, field, reason)
               WHERE i.body IS NULL AND (octet_length(i.reason) BETWEEN 1 AND 65536 AND coalesce(octet_length(i.field), 0) <= 65536
                   AND (i.cause IS NULL OR i.cause = countersign.letter_cause(i.cause, '', NULL, ''))) IS NOT TRUE) THEN
        RAISE EXCEPTION 'letter_replay: a letter comes with its text, or with a reason of 1 to 65536 bytes and a cause that arrivals have'
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF (SELECT coalesce(sum(octet_length(b)), 0) FROM unnest(p_bodies) AS b) > 67108864 THEN
        RAISE EXCEPTION 'letter_replay takes at most 67108864 bytes a call' USING ERRCODE = 'program_limit_exceeded';
    END IF;
    IF v_who.login IS NULL THEN
        RETURN;
    END IF;
    SELECT a.allowed, a.wait_s INTO v_allowed, v_wait
    FROM countersign.desk_allowance(CASE WHEN p_rehearse THEN 'rehearse' ELSE 'replay' END, cardinality(p_ids), 600) AS a;
    IF NOT p_rehearse THEN
        PERFORM 1 FROM countersign.dead_letter d WHERE d.id = ANY (p_ids) ORDER BY d.id FOR NO KEY UPDATE;
    END IF;

    -- What can be said before anything is sent.
    WITH asked AS MATERIALIZED (
        SELECT i.n::integer AS n, i.id, i.revision, i.body, i.cause, left(i.field, 500) AS field, left(i.reason, 2000) AS reason, d
        FROM unnest(p_ids, p_revisions, p_bodies, p_causes, p_fields, p_reasons) WITH ORDINALITY AS i (id, revision, body, cause, field, reason, n)
        LEFT JOIN countersign.dead_letter d ON d.id = i.id AND countersign.may_see(v_who, d.context)
    ), judged AS MATERIALIZED (
        SELECT a.*,
               CASE WHEN (a.d).id IS NULL THEN ARRAY['NOT_YOURS', 'there is no such dead letter that you may see']
                    WHEN (a.d).status = 'REPLAYED' THEN ARRAY[(a.d).outcome, 'it went in before, by ' || (a.d).owner]
                    WHEN (a.d).status = 'DISCARDED' THEN ARRAY['DONE', 'it was discarded']
                    WHEN (a.d).status = 'DISCARDING' THEN ARRAY['DISCARDING', (a.d).discard_by || ' asked for it to be discarded']
                    WHEN (a.d).status = 'TAKEN' AND (a.d).owner <> v_who.login THEN ARRAY['NOT_YOURS', (a.d).owner || ' works on it']
                    WHEN (a.d).cause = 'SCORING' THEN ARRAY['REFUSED', 'no arrival: the exception is still pending, and a workstation tries it again when it is leased; a correction from its producer, or a new release, mends it']
                    WHEN (a.d).cause = 'SIGN_OFF' THEN ARRAY['REFUSED', 'no arrival: the exception is still to be decided; sign it again from a workstation of the present release']
                    WHEN (a.d).revision = 0 AND length((a.d).original) < (a.d).original_size THEN ARRAY['REFUSED', 'only its first ' || length((a.d).original) || ' bytes are kept: have it sent in again from where it came from']
                    WHEN a.n > v_allowed THEN ARRAY['LATER', v_wait::text]
                    WHEN (a.d).revision IS DISTINCT FROM a.revision THEN ARRAY['CONFLICT', 'it was corrected meanwhile: it is at revision ' || (a.d).revision]
                    WHEN a.body IS NULL THEN ARRAY[NULL, a.reason]
                    ELSE (SELECT CASE WHEN f.fault IS NOT NULL THEN ARRAY['REFUSED', f.fault] END FROM (SELECT countersign.letter_fault(v_who, a.d, a.body)) AS f (fault)) END AS said
        FROM asked a
    )
    SELECT array_agg(ROW(j.n, j.id, coalesce(j.said[1], CASE WHEN j.body IS NULL THEN 'REFUSED' END), CASE WHEN (j.d).status = 'REPLAYED' THEN (j.d).exception_id END,
                         CASE WHEN j.said[1] IS NULL AND j.body IS NULL THEN j.field END, j.said[2],
                         countersign.letter_cause(j.cause, '', j.field, coalesce(j.reason, '')), j.said[1] IS NULL)::countersign.letter_answer ORDER BY j.n),
           array_agg(j.body ORDER BY j.n) FILTER (WHERE j.said IS NULL), array_agg(j.n ORDER BY j.n) FILTER (WHERE j.said IS NULL)
    INTO v_answers, v_sent, v_places FROM judged j;

    IF v_sent IS NOT NULL THEN
        BEGIN
            SELECT array_agg(ROW(v_places[t.ordinal], p_ids[v_places[t.ordinal]], t.outcome, t.exception_id, t.field, t.detail, t.cause, true)::countersign.letter_answer)
            INTO v_taken FROM countersign.take_in(v_sent) AS t;
            IF p_rehearse THEN
                -- Whatever it did is undone; what it said is kept.
                RAISE EXCEPTION 'rehearsed' USING ERRCODE = 'CS007';
            END IF;
        EXCEPTION WHEN SQLSTATE 'CS007' THEN
            NULL;
        END;
        SELECT array_agg(coalesce(t, a) ORDER BY a.n) INTO v_answers
        FROM unnest(v_answers) AS a LEFT JOIN unnest(v_taken) AS t ON t.n = a.n;
    END IF;

    -- Who was struck out is a preparer all the same, and is told before it goes in.
    IF p_rehearse THEN
        SELECT array_agg(CASE WHEN k.kept IS NULL THEN a
                              ELSE ROW(a.n, a.letter, a.outcome, a.exception_id, a.field, concat_ws('; ', a.detail, 'prepared_by keeps ' || k.kept || ': a correction strikes nobody out'),
                                       a.cause, a.tried)::countersign.letter_answer END ORDER BY a.n)
        INTO v_answers
        FROM unnest(v_answers) AS a
        LEFT JOIN LATERAL (
            SELECT nullif(array_to_string(countersign.letter_lacks(d.id, d.original, convert_to(r.body, 'UTF8'), false), ', '), '') AS kept
            FROM countersign.dead_letter d JOIN countersign.dead_letter_revision r ON r.dead_letter = d.id AND r.revision = d.revision
            WHERE d.id = a.letter AND a.tried AND a.outcome IN ('ENQUEUED', 'CORRECTED', 'DUPLICATE', 'RELEASED')) AS k ON true;
    END IF;

    IF NOT p_rehearse THEN
        SELECT array_agg(CASE WHEN a.outcome IN ('ENQUEUED', 'CORRECTED', 'DUPLICATE', 'RELEASED')
                              THEN ROW(d.id, 'REPLAYED', v_who.login, d.attempts + 1, d.revision, d.cause, d.field, d.reason, a.outcome, a.exception_id, NULL, NULL)::countersign.letter_step
                              WHEN d.revision = 0 AND p_bodies[a.n] IS NULL
                              THEN ROW(d.id, 'OPEN', NULL, d.attempts + 1, 0, d.cause, d.field, d.reason, a.outcome, NULL, NULL, NULL)::countersign.letter_step
                              ELSE ROW(d.id, 'OPEN', NULL, d.attempts + 1, d.revision, countersign.letter_cause(a.cause, a.outcome, a.field, coalesce(a.detail, '')), a.field,
                                       left(coalesce(a.detail, a.outcome), 2000), a.outcome, NULL, NULL, NULL)::countersign.letter_step END ORDER BY a.n)
        INTO v_steps FROM unnest(v_answers) AS a JOIN countersign.dead_letter d ON d.id = a.letter WHERE a.tried;
        PERFORM countersign.letter_steps(p_workstation, 'LETTER_REPLAYED', v_steps);
    END IF;
    RETURN QUERY SELECT a.n, a.outcome, a.exception_id, a.field, a.detail FROM unnest(v_answers) AS a ORDER BY a.n;
END $$;

-- Asks for letters to be discarded. A supervisor who is somebody else has to agree. An answer for each: DISCARDING, NOT_YOURS, DONE.
CREATE FUNCTION countersign.letter_discard(p_workstation uuid, p_ids bigint[], p_reason text) RETURNS TABLE (ordinal integer, outcome text, detail text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET jit = off AS $$
#variable_conflict use_column
DECLARE
    v_who countersign.remediator := countersign.at_desk(p_workstation, 'letter_discard');
    v_steps countersign.letter_step[];
BEGIN
    PERFORM countersign.few_letters(p_ids);
    PERFORM countersign.reason_given(p_reason);
    IF v_who.login IS NULL THEN
        RETURN;
    END IF;
    PERFORM 1 FROM countersign.dead_letter d WHERE d.id = ANY (p_ids) ORDER BY d.id FOR NO KEY UPDATE;
    RETURN QUERY
    SELECT i.n::integer,
           CASE WHEN d.id IS NULL THEN 'NOT_YOURS' WHEN d.status IN ('REPLAYED', 'DISCARDED') THEN 'DONE' WHEN d.status IN ('OPEN', 'DISCARDING') OR d.owner = v_who.login THEN 'DISCARDING'
                ELSE 'NOT_YOURS' END,
           CASE WHEN d.id IS NULL THEN 'there is no such dead letter that you may see'
                WHEN d.status = 'REPLAYED' THEN 'it went in: ' || d.outcome
                WHEN d.status = 'DISCARDED' THEN 'it was discarded'
                WHEN d.status = 'DISCARDING' THEN d.discard_by || ' asked for it: ' || d.discard_reason
                WHEN d.status = 'TAKEN' AND d.owner <> v_who.login THEN d.owner || ' works on it' END
    FROM unnest(p_ids) WITH ORDINALITY AS i (id, n)
    LEFT JOIN countersign.dead_letter d ON d.id = i.id AND countersign.may_see(v_who, d.context) ORDER BY i.n;
    SELECT array_agg(ROW(d.id, 'DISCARDING', NULL, d.attempts, d.revision, d.cause, d.field, d.reason, d.outcome, d.exception_id, p_reason, NULL)::countersign.letter_step)
    INTO v_steps FROM countersign.dead_letter d
    WHERE d.id = ANY (p_ids) AND countersign.may_see(v_who, d.context) AND (d.status = 'OPEN' OR (d.status = 'TAKEN' AND d.owner = v_who.login));
    PERFORM countersign.letter_steps(p_workstation, 'LETTER_DISCARD_ASKED', v_steps);
END $$;

-- Agrees to discard letters, as a supervisor who is not the one who asked, under any of their names. The reasons are those that the
-- supervisor read. An answer for each: DISCARDED, CONFLICT (another reason was given meanwhile), NOT_YOURS, DONE.
CREATE FUNCTION countersign.letter_discard_confirm(p_ids bigint[], p_reasons text[]) RETURNS TABLE (ordinal integer, outcome text, detail text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET jit = off AS $$
#variable_conflict use_column
DECLARE
    v_names text[] := countersign.names_of(session_user);
    v_steps countersign.letter_step[];
BEGIN
    PERFORM countersign.read_committed();
    PERFORM countersign.few_letters(p_ids);
    IF cardinality(p_reasons) IS DISTINCT FROM cardinality(p_ids) THEN
        RAISE EXCEPTION 'letter_discard_confirm: its arrays are not of one length' USING ERRCODE = 'invalid_parameter_value';
    END IF;
    PERFORM 1 FROM countersign.dead_letter d WHERE d.id = ANY (p_ids) ORDER BY d.id FOR NO KEY UPDATE;
    RETURN QUERY
    SELECT i.n::integer,
           CASE WHEN d.id IS NULL THEN 'NOT_YOURS' WHEN d.status IN ('REPLAYED', 'DISCARDED') THEN 'DONE' WHEN d.status <> 'DISCARDING' OR countersign.names_of(d.discard_by) && v_names THEN 'NOT_YOURS'
                WHEN d.discard_reason IS DISTINCT FROM i.reason THEN 'CONFLICT' ELSE 'DISCARDED' END,
           CASE WHEN d.id IS NULL THEN 'there is no such dead letter'
                WHEN d.status = 'REPLAYED' THEN 'it went in: ' || d.outcome
                WHEN d.status = 'DISCARDED' THEN 'it was discarded before'
                WHEN d.status <> 'DISCARDING' THEN 'nobody asked for it to be discarded'
                WHEN countersign.names_of(d.discard_by) && v_names THEN d.discard_by || ' asked for it: another supervisor has to agree'
                WHEN d.discard_reason IS DISTINCT FROM i.reason THEN 'the reason is another one now: ' || d.discard_reason END
    FROM unnest(p_ids, p_reasons) WITH ORDINALITY AS i (id, reason, n) LEFT JOIN countersign.dead_letter d ON d.id = i.id ORDER BY i.n;
    SELECT array_agg(ROW(d.id, 'DISCARDED', NULL, d.attempts, d.revision, d.cause, d.field, d.reason, d.outcome, d.exception_id, d.discard_reason, NULL)::countersign.letter_step)
    INTO v_steps FROM countersign.dead_letter d JOIN unnest(p_ids, p_reasons) AS i (id, reason) ON i.id = d.id
    WHERE d.status = 'DISCARDING' AND d.discard_reason = i.reason AND NOT countersign.names_of(d.discard_by) && v_names;
    PERFORM countersign.letter_steps(NULL, 'LETTER_DISCARDED', v_steps);
END $$;

-- Keeps what a workstation gave up: an exception that it could not score, or a decision that the database can never take. It changes nothing
-- of the exception, which stays for others and for the next release. The same is one letter, however often and by whomever it is told.
-- At most 1000 a call, and 64 MiB.
CREATE FUNCTION countersign.give_up(p_workstation uuid, p_cause text[], p_exception_id bigint[], p_version integer[], p_key bytea[], p_original text[], p_reason text[],
    p_attempts integer[], p_at timestamptz[]) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET jit = off AS $$
DECLARE
    v_count integer := coalesce(cardinality(p_cause), 0);
    v_now timestamptz := clock_timestamp();
    v_bad bigint;
    v_name text;
    v_steps countersign.letter_step[];
BEGIN
    PERFORM countersign.read_committed();
    IF EXISTS (SELECT 1 FROM unnest(ARRAY[cardinality(p_exception_id), cardinality(p_version), cardinality(p_key), cardinality(p_original), cardinality(p_reason),
                   cardinality(p_attempts), cardinality(p_at)]) AS c WHERE coalesce(c, 0) <> v_count) THEN
        RAISE EXCEPTION 'give_up: its arrays are not of one length' USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF v_count > 1000 OR (SELECT coalesce(sum(octet_length(o)), 0) FROM unnest(p_original) AS o) > 67108864 THEN
        RAISE EXCEPTION 'give_up takes at most 1000 letters and 67108864 bytes a call' USING ERRCODE = 'program_limit_exceeded';
    END IF;
    IF countersign.turned_away(p_workstation, 'give_up') THEN
        RETURN NULL;
    END IF;
    PERFORM countersign.caller(p_workstation);
    SELECT min(i.n) INTO v_bad
    FROM unnest(p_cause, p_exception_id, p_version, p_key, p_original, p_attempts) WITH ORDINALITY AS i (cause, exception, version, key, original, attempts, n)
    WHERE (i.cause IN ('SCORING', 'SIGN_OFF') AND i.attempts BETWEEN 1 AND 1000 AND coalesce(length(i.key), 32) = 32 AND (i.key IS NULL OR i.cause = 'SIGN_OFF')
           AND octet_length(i.original) <= 16777216
           AND EXISTS (SELECT 1 FROM countersign.exception e WHERE e.id = i.exception AND i.version BETWEEN 1 AND e.version)) IS NOT TRUE;
    IF v_bad IS NOT NULL THEN
        RAISE EXCEPTION 'give_up: the letter % of the call has no known exception, or is of another shape', v_bad USING ERRCODE = 'invalid_parameter_value',
            HINT = 'A cause is SCORING or SIGN_OFF, a key has 32 bytes and is of a decision, attempts are 1 to 1000, an original has at most 16777216 bytes.';
    END IF;
    SELECT w.name INTO v_name FROM countersign.workstation w WHERE w.id = p_workstation;
    WITH item AS (
        SELECT DISTINCT ON (i.cause, i.exception, i.version, coalesce(i.key, '')) i.*
        FROM unnest(p_cause, p_exception_id, p_version, p_key, p_original, p_reason, p_attempts, p_at) WITH ORDINALITY AS i (cause, exception, version, key, original, reason, attempts, at, n)
        ORDER BY i.cause, i.exception, i.version, coalesce(i.key, ''), i.n
    ), kept AS (
        INSERT INTO countersign.dead_letter AS d (original, original_hash, original_size, origin, code, class, reason, idempotency_key, first_at, last_at, cause, context,
            exception_id, version, sign_off_key, workstation, attempts)
        SELECT convert_to(i.original, 'UTF8'), sha256(convert_to(i.original, 'UTF8')), octet_length(i.original), left('workstation ' || v_name || ' of ' || session_user, 1000),
               'POISON_MESSAGE', 'STRUCTURAL', left(coalesce(i.reason, ''), 2000), e.idempotency_key, v_now, v_now, i.cause,
               jsonb_strip_nulls(jsonb_build_object('key', e.idempotency_key, 'kind', e.kind, 'partition', e.partition_key, 'entity', e.ledger_entity, 'trace', e.trace_id,
                   'correlation', e.correlation_id, 'source_hash', e.source_hash, 'match', e.match_decision, 'currency', e.currency, 'amount', e.variance_amount::text,
                   'given_up_at', to_char(i.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))),
               i.exception, i.version, coalesce(i.key, ''), p_workstation, i.attempts
        FROM item i JOIN countersign.exception e ON e.id = i.exception ORDER BY i.cause, i.exception, i.version, coalesce(i.key, '')
        ON CONFLICT (cause, exception_id, version, sign_off_key) WHERE workstation IS NOT NULL DO NOTHING
        RETURNING d.*
    )
    SELECT array_agg(ROW(k.id, 'OPEN', NULL, k.attempts, 0, k.cause, NULL, k.reason, NULL, k.exception_id, NULL, NULL)::countersign.letter_step) INTO v_steps FROM kept k;
    PERFORM countersign.letter_steps(p_workstation, 'DEAD_LETTERED', v_steps);
    RETURN true;
END $$;

-- Says whether a reviewer may work at the desk.
CREATE FUNCTION countersign.reviewer_remediates(p_login text, p_on boolean) RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_was boolean;
BEGIN
    PERFORM countersign.read_committed();
    PERFORM countersign.not_oneself(p_login, 'open the desk of dead letters');
    SELECT r.remediates INTO v_was FROM countersign.reviewer r WHERE r.login = p_login AND r.active FOR NO KEY UPDATE;
    IF NOT FOUND OR p_on IS NULL THEN
        RAISE EXCEPTION 'there is no active reviewer %', p_login USING ERRCODE = 'invalid_parameter_value', HINT = 'countersign-admin reviewer list shows them.';
    END IF;
    IF v_was = p_on THEN
        RETURN false;
    END IF;
    UPDATE countersign.reviewer r SET remediates = p_on WHERE r.login = p_login;
    PERFORM countersign.audit_installation('REVIEWER_REMEDIATES', NULL, NULL, NULL, jsonb_build_object('login', p_login, 'remediates', p_on));
    RETURN true;
END $$;

-- What a workstation keeps to foresee the answers while it is offline: the policy in force, this reviewer's rights and what they
-- have used of them, and the periods that are not open.
CREATE OR REPLACE FUNCTION countersign.snapshot_of(p_login text) RETURNS jsonb LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT jsonb_build_object(
        'at', to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
        'policy_version', (countersign.policy()).version,
        'policy', (countersign.policy()).document,
        'names', countersign.names_of(r.login), 'kinds', r.kinds, 'tiers', r.tiers, 'ledger_entities', r.ledger_entities, 'remediates', r.remediates,
        'limits', coalesce((SELECT jsonb_agg(jsonb_build_object('currency', l.currency, 'largest', l.largest::text, 'per_period', l.per_period::text) ORDER BY l.currency)
                            FROM countersign.reviewer_limit l WHERE l.reviewer = r.login), '[]'),
        'used', coalesce((SELECT jsonb_agg(jsonb_build_object('period', u.period, 'currency', u.currency, 'approved', u.approved::text) ORDER BY u.period, u.currency)
                          FROM (SELECT u.period, u.currency, sum(u.approved) AS approved FROM countersign.reviewer_usage u
                                WHERE u.reviewer = ANY (countersign.logins_of(r.login)) AND u.period <> '' GROUP BY u.period, u.currency ORDER BY u.period DESC LIMIT 1000) AS u), '[]'),
        'periods', coalesce((SELECT jsonb_agg(jsonb_build_object('ledger_entity', p.ledger_entity, 'name', p.name, 'first_day', p.first_day,
                                                                 'last_day', p.last_day, 'state', p.state, 'closes_at', to_char(p.closes_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) ORDER BY p.ledger_entity, p.first_day)
                             FROM (SELECT p.* FROM countersign.period p ORDER BY p.last_day DESC LIMIT 5000) AS p), '[]'))
    FROM countersign.reviewer r WHERE r.login = p_login
$$;

-- Who may call what is new, and what auditors see of it.
CREATE OR REPLACE VIEW countersign.dead_letters AS SELECT * FROM countersign.dead_letter;
CREATE OR REPLACE VIEW countersign.reviewers AS SELECT * FROM countersign.reviewer;
CREATE VIEW countersign.dead_letter_events AS SELECT * FROM countersign.dead_letter_event;
CREATE VIEW countersign.dead_letter_revisions AS SELECT * FROM countersign.dead_letter_revision;

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA countersign FROM PUBLIC;
REVOKE ALL ON ALL TABLES IN SCHEMA countersign FROM PUBLIC;
GRANT EXECUTE ON FUNCTION countersign.dead_letter(bytea[], bytea[], bigint[], text[], bigint[], text[], text[], text[], text[], text[], text[]) TO countersign_producer;
GRANT EXECUTE ON FUNCTION countersign.letter_causes, countersign.letters, countersign.letter, countersign.letter_bodies, countersign.letter_take, countersign.letter_correct,
    countersign.letter_replay, countersign.letter_discard TO countersign_reviewer, countersign_supervisor;
GRANT EXECUTE ON FUNCTION countersign.give_up TO countersign_reviewer;
GRANT EXECUTE ON FUNCTION countersign.letter_discard_confirm, countersign.reviewer_remediates TO countersign_supervisor;
GRANT SELECT ON countersign.dead_letter_events, countersign.dead_letter_revisions TO countersign_supervisor, countersign_auditor;

RESET ROLE;
