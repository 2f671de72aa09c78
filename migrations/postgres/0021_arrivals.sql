-- Arrivals judged one by one, vendors, how well receipts are read, lines of large claims, and a fair order of claiming.

SET LOCAL ROLE countersign_owner;

-- Vendors --------------------------------------------------------------------------------------------------------------------------

-- Whose claims are taken in. A vendor who is not active any more keeps what is there.
CREATE TABLE countersign.vendor (
    vendor_id   text        PRIMARY KEY CHECK (length(vendor_id) BETWEEN 1 AND 200),
    name        text        NOT NULL CHECK (length(name) BETWEEN 1 AND 1000),
    active      boolean     NOT NULL DEFAULT true,
    changed_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    changed_by  text        NOT NULL DEFAULT session_user
);
CREATE TRIGGER keep BEFORE DELETE OR TRUNCATE ON countersign.vendor EXECUTE FUNCTION countersign.append_only();

-- Registers vendors, at most 500 a call, or gives them other names; one that was disabled is active again. How many were changed.
CREATE FUNCTION countersign.vendor_set(p_vendor_id text[], p_name text[]) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_bad text;
    v_changed jsonb;
BEGIN
    PERFORM countersign.read_committed();
    IF (cardinality(p_vendor_id) BETWEEN 1 AND 500 AND cardinality(p_name) = cardinality(p_vendor_id)) IS NOT TRUE THEN
        RAISE EXCEPTION 'vendor_set: 1 to 500 vendors are expected, and a name for each' USING ERRCODE = 'invalid_parameter_value';
    END IF;
    SELECT min(coalesce(v.vendor_id, '')) INTO v_bad FROM unnest(p_vendor_id, p_name) AS v (vendor_id, name)
    WHERE (length(v.vendor_id) BETWEEN 1 AND 200 AND length(v.name) BETWEEN 1 AND 1000 AND btrim(v.name) <> '' AND btrim(v.vendor_id) <> ''
           AND v.vendor_id || v.name !~ '[\u0001-\u001F\u007F-\u009F]') IS NOT TRUE;
    IF v_bad IS NOT NULL THEN
        RAISE EXCEPTION 'the vendor % has no id of 1 to 200 and no name of 1 to 1000 characters, without control characters', quote_literal(v_bad)
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    SELECT min(v.vendor_id) INTO v_bad FROM (
        SELECT v.vendor_id FROM unnest(p_vendor_id) AS v (vendor_id) GROUP BY v.vendor_id HAVING count(*) > 1) AS v;
    IF v_bad IS NOT NULL THEN
        RAISE EXCEPTION 'the vendor % is named twice', quote_literal(v_bad) USING ERRCODE = 'invalid_parameter_value';
    END IF;
    WITH changed AS (
        INSERT INTO countersign.vendor AS k (vendor_id, name)
        SELECT v.vendor_id, v.name FROM unnest(p_vendor_id, p_name) AS v (vendor_id, name) ORDER BY v.vendor_id
        ON CONFLICT (vendor_id) DO UPDATE SET name = excluded.name, active = true, changed_at = clock_timestamp(), changed_by = session_user
        WHERE k.name <> excluded.name OR NOT k.active
        RETURNING vendor_id, name
    )
    SELECT jsonb_agg(jsonb_build_object('vendor_id', c.vendor_id, 'name', c.name) ORDER BY c.vendor_id) INTO v_changed FROM changed c;
    IF v_changed IS NOT NULL THEN
        PERFORM countersign.audit_installation('VENDORS_SET', NULL, NULL, NULL, jsonb_build_object('vendors', v_changed));
    END IF;
    RETURN coalesce(jsonb_array_length(v_changed), 0);
END $$;

-- Takes no more claims of a vendor in. Whether it was active.
CREATE FUNCTION countersign.vendor_disable(p_vendor_id text, p_reason text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_active boolean;
BEGIN
    PERFORM countersign.read_committed();
    PERFORM countersign.reason_given(p_reason);
    SELECT v.active INTO v_active FROM countersign.vendor v WHERE v.vendor_id = p_vendor_id FOR NO KEY UPDATE;
    IF v_active IS NULL THEN
        RAISE EXCEPTION 'the vendor % is not registered', quote_literal(p_vendor_id) USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF v_active THEN
        UPDATE countersign.vendor v SET active = false, changed_at = clock_timestamp(), changed_by = session_user WHERE v.vendor_id = p_vendor_id;
        PERFORM countersign.audit_installation('VENDOR_DISABLED', NULL, NULL, NULL, jsonb_build_object('vendor_id', p_vendor_id, 'reason', p_reason));
    END IF;
    RETURN v_active;
END $$;

-- Claims that are there already were taken in without a register: their vendors are known.
DO $$
DECLARE
    v_vendors jsonb;
BEGIN
    INSERT INTO countersign.vendor (vendor_id, name)
    SELECT DISTINCT ON (1) left(c.body::jsonb -> 'payload' ->> 'vendor_id', 200), left(coalesce(nullif(c.body::jsonb -> 'payload' ->> 'vendor_name', ''), c.body::jsonb -> 'payload' ->> 'vendor_id'), 1000)
    FROM countersign.exception e JOIN countersign.exception_content c ON c.exception_id = e.id AND c.version = e.version
    WHERE e.kind = 'sales_claim' AND c.body::jsonb -> 'payload' ->> 'vendor_id' <> '' ORDER BY 1, 2
    ON CONFLICT DO NOTHING;
    SELECT jsonb_agg(jsonb_build_object('vendor_id', v.vendor_id, 'name', v.name) ORDER BY v.vendor_id) INTO v_vendors FROM countersign.vendor v;
    IF v_vendors IS NOT NULL THEN
        PERFORM countersign.audit_installation('VENDORS_SET', NULL, NULL, NULL, jsonb_build_object('vendors', v_vendors, 'of', 'claims taken in before there was a register'));
    END IF;
END $$;

-- Lines of large claims ------------------------------------------------------------------------------------------------------------

-- The lines of a claim that come apart from it, so that what reviewers lease stays small. They are loaded chunk by chunk before the
-- claim arrives, under no partition's lock, and are of no consequence until it does. `sealed_at` says that the last one is there; the rest
-- of the row is what they add up to: `exact` is the sum of units times rate before any rounding, `sha256` the one over the canonical lines.
CREATE TABLE countersign.claim_load (
    id               bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    idempotency_key  text        NOT NULL UNIQUE CHECK (length(idempotency_key) BETWEEN 1 AND 200),
    began_at         timestamptz NOT NULL DEFAULT clock_timestamp(),
    loaded_by        text        NOT NULL DEFAULT session_user,
    sealed_at        timestamptz,
    lines            integer,
    units            numeric,
    exact            numeric,
    least_rate       numeric,
    largest_rate     numeric,
    sha256           bytea
);
CREATE TABLE countersign.claim_chunk (
    load    bigint  NOT NULL,
    chunk   integer NOT NULL CHECK (chunk BETWEEN 0 AND 499),
    lines   integer NOT NULL CHECK (lines BETWEEN 1 AND 10000),
    sha256  bytea   NOT NULL,
    PRIMARY KEY (load, chunk)
);
CREATE TABLE countersign.claim_line (
    load       bigint  NOT NULL,
    line       integer NOT NULL,
    item       text    NOT NULL,
    units      numeric NOT NULL,
    tier_rate  numeric NOT NULL,
    amount     numeric,
    PRIMARY KEY (load, line)
);

-- A line as its hash covers it: item, units, rate and amount, separated by tabs and ended by a line feed; decimals without zeros at the
-- end, an absent amount as nothing.
CREATE FUNCTION countersign.claim_line_text(item text, units numeric, tier_rate numeric, amount numeric) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN item || E'\t' || trim_scale(units)::text || E'\t' || trim_scale(tier_rate)::text || E'\t' || coalesce(trim_scale(amount)::text, '') || E'\n';

-- An exact decimal in a string, of at most 28 digits, as all amounts come.
CREATE FUNCTION countersign.is_decimal(value jsonb) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN jsonb_typeof(value) = 'string' AND value #>> '{}' ~ '^-?[0-9]{1,28}([.][0-9]{1,28})?$' AND length(translate(value #>> '{}', '-.', '')) <= 28;

-- Whether this chunk of a claim's lines is there with this very hash: whoever runs a load again need not send it.
CREATE FUNCTION countersign.claim_lines_there(p_key text, p_chunk integer, p_sha256 bytea) RETURNS boolean
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN EXISTS (SELECT 1 FROM countersign.claim_load l JOIN countersign.claim_chunk c ON c.load = l.id
                   WHERE l.idempotency_key = p_key AND c.chunk = p_chunk AND c.sha256 = p_sha256);
END $$;

-- Puts a chunk of 1 to 10,000 lines in its place, counted from 0; every chunk but the last has 10,000. Another content in the same place
-- takes it, until the claim itself is taken in.
CREATE FUNCTION countersign.claim_lines_add(p_key text, p_chunk integer, p_sha256 bytea, p_item text[], p_units text[], p_rate text[], p_amount text[]) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_load countersign.claim_load;
    v_bad bigint;
    v_count integer := cardinality(p_item);
BEGIN
    PERFORM countersign.read_committed();
    IF (length(p_key) BETWEEN 1 AND 200 AND p_key !~ '[\u0001-\u001F\u007F-\u009F]' AND p_chunk BETWEEN 0 AND 499 AND v_count BETWEEN 1 AND 10000
        AND cardinality(p_units) = v_count AND cardinality(p_rate) = v_count AND cardinality(p_amount) = v_count AND length(p_sha256) = 32) IS NOT TRUE THEN
        RAISE EXCEPTION 'claim_lines_add: the key of a claim, a chunk of 0 to 499 with its SHA-256, and 1 to 10000 lines are expected' USING ERRCODE = 'invalid_parameter_value';
    END IF;
    SELECT min(i.n) INTO v_bad FROM unnest(p_item, p_units, p_rate, p_amount) WITH ORDINALITY AS i (item, units, rate, amount, n)
    WHERE (length(i.item) BETWEEN 1 AND 1000 AND i.item !~ '[\u0001-\u001F\u007F-\u009F]' AND countersign.is_decimal(to_jsonb(i.units)) AND countersign.is_decimal(to_jsonb(i.rate))
           AND (i.amount IS NULL OR countersign.is_decimal(to_jsonb(i.amount)))) IS NOT TRUE;
    IF v_bad IS NOT NULL THEN
        RAISE EXCEPTION 'line % has no item of 1 to 1000 characters, or units, rate or amount are no exact decimals of at most 28 digits', p_chunk * 10000 + v_bad
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF (SELECT sha256(convert_to(string_agg(countersign.claim_line_text(i.item, i.units::numeric, i.rate::numeric, i.amount::numeric), '' ORDER BY i.n), 'UTF8'))
        FROM unnest(p_item, p_units, p_rate, p_amount) WITH ORDINALITY AS i (item, units, rate, amount, n)) <> p_sha256 THEN
        RAISE EXCEPTION 'the SHA-256 of chunk % is not the one of its lines', p_chunk USING ERRCODE = 'invalid_parameter_value';
    END IF;
    INSERT INTO countersign.claim_load (idempotency_key) VALUES (p_key) ON CONFLICT DO NOTHING;
    SELECT * INTO STRICT v_load FROM countersign.claim_load l WHERE l.idempotency_key = p_key FOR NO KEY UPDATE;
    IF EXISTS (SELECT 1 FROM countersign.claim_chunk c WHERE c.load = v_load.id AND c.chunk = p_chunk AND c.sha256 = p_sha256) THEN
        RETURN;
    END IF;
    IF EXISTS (SELECT 1 FROM countersign.exception e WHERE e.idempotency_key = p_key) THEN
        RAISE EXCEPTION 'the claim % has arrived: its lines do not change any more', p_key USING ERRCODE = 'invalid_parameter_value',
            HINT = 'A re-priced claim is a new one, with its own agreement version and its own key.';
    END IF;
    UPDATE countersign.claim_load l SET sealed_at = NULL, loaded_by = session_user WHERE l.id = v_load.id AND (l.sealed_at IS NOT NULL OR l.loaded_by <> session_user);
    DELETE FROM countersign.claim_line k WHERE k.load = v_load.id AND k.line BETWEEN p_chunk * 10000 + 1 AND (p_chunk + 1) * 10000;
    INSERT INTO countersign.claim_line (load, line, item, units, tier_rate, amount)
    SELECT v_load.id, p_chunk * 10000 + i.n, i.item, i.units::numeric, i.rate::numeric, i.amount::numeric
    FROM unnest(p_item, p_units, p_rate, p_amount) WITH ORDINALITY AS i (item, units, rate, amount, n) ORDER BY i.n;
    INSERT INTO countersign.claim_chunk (load, chunk, lines, sha256) VALUES (v_load.id, p_chunk, v_count, p_sha256)
    ON CONFLICT (load, chunk) DO UPDATE SET lines = excluded.lines, sha256 = excluded.sha256;
END $$;

-- Says that a claim has exactly these chunks, and adds its lines up. What an earlier run left beyond them is gone.
CREATE FUNCTION countersign.claim_lines_seal(p_key text, p_chunks integer)
RETURNS TABLE (lines integer, units numeric, exact numeric, least_rate numeric, largest_rate numeric, sha256 bytea)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_load countersign.claim_load;
    v_missing integer;
BEGIN
    PERFORM countersign.read_committed();
    SELECT * INTO v_load FROM countersign.claim_load l WHERE l.idempotency_key = p_key FOR NO KEY UPDATE;
    IF NOT FOUND OR (p_chunks BETWEEN 1 AND 500) IS NOT TRUE THEN
        RAISE EXCEPTION 'no lines of the claim % were loaded, or it is not 1 to 500 chunks', p_key USING ERRCODE = 'invalid_parameter_value';
    END IF;
    SELECT min(n) INTO v_missing FROM generate_series(0, p_chunks - 1) AS n
    WHERE NOT EXISTS (SELECT 1 FROM countersign.claim_chunk c WHERE c.load = v_load.id AND c.chunk = n AND (c.lines = 10000 OR n = p_chunks - 1));
    IF v_missing IS NOT NULL THEN
        RAISE EXCEPTION 'chunk % of the claim % is not there in full: load it again', v_missing, p_key USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF v_load.sealed_at IS NULL OR EXISTS (SELECT 1 FROM countersign.claim_chunk c WHERE c.load = v_load.id AND c.chunk >= p_chunks) THEN
        IF EXISTS (SELECT 1 FROM countersign.exception e WHERE e.idempotency_key = p_key) THEN
            RAISE EXCEPTION 'the claim % has arrived: its lines do not change any more', p_key USING ERRCODE = 'invalid_parameter_value';
        END IF;
        DELETE FROM countersign.claim_line k WHERE k.load = v_load.id AND k.line > p_chunks * 10000;
        DELETE FROM countersign.claim_chunk c WHERE c.load = v_load.id AND c.chunk >= p_chunks;
        UPDATE countersign.claim_load l SET sealed_at = clock_timestamp(), lines = s.lines, units = s.units, exact = s.exact,
            least_rate = s.least_rate, largest_rate = s.largest_rate, sha256 = s.sha256
        FROM (SELECT count(*)::integer AS lines, sum(k.units) AS units, sum(k.units * k.tier_rate) AS exact, min(k.tier_rate) AS least_rate, max(k.tier_rate) AS largest_rate,
                     sha256(convert_to(string_agg(countersign.claim_line_text(k.item, k.units, k.tier_rate, k.amount), '' ORDER BY k.line), 'UTF8')) AS sha256
              FROM countersign.claim_line k WHERE k.load = v_load.id) AS s
        WHERE l.id = v_load.id;
        PERFORM countersign.audit_installation('CLAIM_LINES_SEALED', NULL, NULL, NULL, jsonb_build_object('idempotency_key', p_key, 'lines', l.lines, 'units', l.units::text,
            'exact', l.exact::text, 'sha256', encode(l.sha256, 'hex'))) FROM countersign.claim_load l WHERE l.id = v_load.id;
    END IF;
    RETURN QUERY SELECT l.lines, l.units, l.exact, l.least_rate, l.largest_rate, l.sha256 FROM countersign.claim_load l WHERE l.id = v_load.id;
END $$;

-- Why a claim with lines apart cannot be taken in; NULL if it can.
CREATE FUNCTION countersign.claim_lines_fault(p_key text, payload jsonb) RETURNS text LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_load countersign.claim_load;
BEGIN
    IF (payload ->> 'line_items_sha256' ~ '^[0-9a-f]{64}$' AND payload ->> 'line_item_count' ~ '^[0-9]{1,7}$'
        AND countersign.is_decimal(payload -> 'qualifying_units') AND countersign.is_decimal(payload -> 'tier_rate')) IS NOT TRUE THEN
        RETURN 'a claim with lines apart has line_items_sha256 in 64 lower-case hex digits, line_item_count, qualifying_units and tier_rate';
    END IF;
    IF coalesce(payload -> 'line_items', '[]') NOT IN ('[]', 'null') THEN
        RETURN 'the lines are said to come apart, and line_items has some';
    END IF;
    SELECT * INTO v_load FROM countersign.claim_load l WHERE l.idempotency_key = p_key;
    RETURN CASE
        WHEN NOT FOUND THEN 'no lines were loaded: load them with `countersign-admin claim-lines`, then replay'
        WHEN v_load.sealed_at IS NULL THEN format('its lines are not loaded to the end: %s are there', (SELECT sum(c.lines) FROM countersign.claim_chunk c WHERE c.load = v_load.id))
        WHEN encode(v_load.sha256, 'hex') <> payload ->> 'line_items_sha256' OR v_load.lines <> (payload ->> 'line_item_count')::integer
            THEN format('%s lines with the SHA-256 %s are there, not %s with %s', v_load.lines, encode(v_load.sha256, 'hex'), payload ->> 'line_item_count', payload ->> 'line_items_sha256')
        WHEN v_load.units <> (payload ->> 'qualifying_units')::numeric
            THEN format('the units of its lines add up to %s, not to qualifying_units %s', trim_scale(v_load.units), payload ->> 'qualifying_units')
        WHEN v_load.least_rate <> (payload ->> 'tier_rate')::numeric OR v_load.largest_rate <> (payload ->> 'tier_rate')::numeric
            THEN format('the rates of its lines are %s to %s, not tier_rate %s', trim_scale(v_load.least_rate), trim_scale(v_load.largest_rate), payload ->> 'tier_rate')
        END;
END $$;

-- Receipts -------------------------------------------------------------------------------------------------------------------------

-- Receipts that needed no reviewer, as they arrived: they went on to policy validation at once. Their audit records are in the chains
-- of their partitions.
CREATE TABLE countersign.released (
    idempotency_key  text        PRIMARY KEY,
    partition_key    text        NOT NULL,
    chain_seq        bigint      NOT NULL,
    source_hash      text        NOT NULL,
    content_hash     bytea       NOT NULL CHECK (length(content_hash) = 32),
    body             text        NOT NULL,
    drift            numeric     NOT NULL,
    amount           numeric     NOT NULL,
    currency         text        NOT NULL,
    routed_to        text        NOT NULL DEFAULT 'policy validation',
    released_at      timestamptz NOT NULL
);
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON countersign.released EXECUTE FUNCTION countersign.append_only();

-- How well receipts are read, by the day of their submission in UTC. Each receipt counts once, as its latest version has it.
CREATE TABLE countersign.receipt_capture (
    day         date        PRIMARY KEY,
    receipts    integer     NOT NULL,
    drifting    integer     NOT NULL,
    alerted_at  timestamptz
) WITH (fillfactor = 50);

-- How far the mean confidence of what was read is below the 0.92 that is expected: 1 - mean / 0.92, half-up to 4 digits. The mean is that of
-- the lines; where one is given, the lower of both, each to the digits it comes with: whoever states a better mean than its lines have is
-- not believed. NULL if there is none.
CREATE FUNCTION countersign.receipt_drift(payload jsonb) RETURNS numeric LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_stated numeric := CASE WHEN countersign.is_decimal(payload -> 'mean_confidence') THEN (payload ->> 'mean_confidence')::numeric END;
    v_lines numeric;
BEGIN
    IF jsonb_typeof(payload -> 'ocr_lines') = 'array' THEN
        SELECT avg((l ->> 'confidence')::numeric) INTO v_lines FROM jsonb_array_elements(payload -> 'ocr_lines') AS l WHERE countersign.is_decimal(l -> 'confidence');
    END IF;
    RETURN round(1 - CASE WHEN v_stated IS NULL THEN v_lines ELSE least(v_stated, round(v_lines, 4)) END / 0.92, 4);
END $$;

-- The share of a day's receipts, in percent, above which somebody is told.
CREATE FUNCTION countersign.capture_alert_percent(document jsonb) RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN coalesce((document -> 'capture' ->> 'alert_percent')::integer, 10);

-- The days with receipts, latest first, at most 31.
CREATE FUNCTION countersign.capture_days() RETURNS TABLE (day date, receipts integer, drifting integer, share numeric, alert boolean)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_percent integer := countersign.capture_alert_percent((countersign.policy()).document);
BEGIN
    RETURN QUERY
    SELECT c.day, c.receipts, c.drifting, round(100.0 * c.drifting / c.receipts, 1), 100 * c.drifting::bigint > v_percent * c.receipts::bigint
    FROM countersign.receipt_capture c WHERE c.receipts > 0 ORDER BY c.day DESC LIMIT 31;
END $$;

-- The same for a reviewer; no row for whoever is turned away.
CREATE FUNCTION countersign.capture(p_workstation uuid) RETURNS TABLE (days jsonb)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM countersign.read_committed();
    IF countersign.turned_away(p_workstation, 'capture') THEN
        RETURN;
    END IF;
    PERFORM countersign.caller(p_workstation);
    RETURN QUERY SELECT coalesce(jsonb_agg(jsonb_build_object('day', c.day, 'receipts', c.receipts, 'drifting', c.drifting, 'share', c.share::text, 'alert', c.alert) ORDER BY c.day DESC), '[]')
                 FROM countersign.capture_days() AS c;
END $$;

-- A fair order of claiming ---------------------------------------------------------------------------------------------------------

-- Partitions are claimed in the order of `claim_rank`, which arrivals fix, so that claiming itself stays a walk along an index:
--
--     rank = base + lag
--     base = min(submitted - headstart, max(submitted - 7 days, due - 3 days))     headstart: escalated 30 days, priority 7 days
--     lag  = min(7 days, max(next(entity), next(entity and counterparty)) - now)   not less than 0
--
-- and each arrival moves its flows on: next = max(next, now) + cost, with a cost of 5 minutes for an entity and of an hour for a
-- counterparty of an entity. What its counterparty puts off further than its entity does costs the entity nothing: it is not the entity's
-- share that it waits for, and other counterparties are not put off by it. This is start-time fair queueing (Goyal, Vin, Cheng: "Start-time Fair Queueing: a scheduling algorithm for integrated
-- services packet switching networks", SIGCOMM 1996) with the time of day as virtual time: `next` is the finish tag of a flow's last item, and
-- what comes from a flow within its share has no lag. An entity that sends thousands is put off behind itself, by the part of it that is over
-- 288 a day, and nobody else is; so is a counterparty by what is over 24 a day.
--
-- Ranks are instants: an item that waits is overtaken by what is submitted within 37 days (lag and headstart) after it and by nothing later,
-- so that nothing starves. Being due counts at most as much as being of the priority tier. A flow of which nothing is pending starts anew, so
-- that nobody pays for having used what nobody else wanted. The rank stays with the exception (`claim_rank`; absent where an earlier release took it in); a
-- correction keeps its lag. A partition has the least rank of what is pending in it, anew each time it is given back.
ALTER TABLE countersign.exception ADD claim_rank timestamptz;

CREATE TABLE countersign.flow (
    flow           uuid         PRIMARY KEY,
    ledger_entity  text         NOT NULL,
    counterparty   uuid,
    next           timestamptz  NOT NULL
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02);

CREATE FUNCTION countersign.claim_base(submitted_at timestamptz, routing_tier text, due_on date) RETURNS timestamptz LANGUAGE sql STABLE PARALLEL SAFE
RETURN least(countersign.claim_rank(submitted_at, routing_tier),
             greatest(submitted_at - interval '7 days', (due_on::timestamp AT TIME ZONE 'UTC') - interval '3 days'));

-- The two flows of an arrival. A claim's counterparty is its vendor.
CREATE FUNCTION countersign.entity_flow(entity text) RETURNS uuid LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN md5(entity)::uuid;
CREATE FUNCTION countersign.counterparty_flow(d jsonb) RETURNS uuid LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN md5((d ->> 'ledger_entity') || E'\n' || CASE d ->> 'kind' WHEN 'sales_claim' THEN E'vendor\n' || (d -> 'payload' ->> 'vendor_id') ELSE d ->> 'counterparty' END)::uuid;

-- The gates ------------------------------------------------------------------------------------------------------------------------

-- A text as JSON, or NULL.
CREATE FUNCTION countersign.readable(body text) RETURNS jsonb LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN body::jsonb;
EXCEPTION WHEN data_exception OR program_limit_exceeded THEN
    RETURN NULL;
END $$;

-- A day of the years 1970 to 9999 as YYYY-MM-DD.
CREATE FUNCTION countersign.is_day(day text) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN (day ~ '^(19[7-9][0-9]|[2-9][0-9]{3})-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$') IS NOT TRUE THEN false
    ELSE substr(day, 9)::integer <= CASE substr(day, 6, 2) WHEN '02' THEN
             CASE WHEN left(day, 4)::integer % 4 = 0 AND (left(day, 4)::integer % 100 <> 0 OR left(day, 4)::integer % 400 = 0) THEN 29 ELSE 28 END
         WHEN '04' THEN 30 WHEN '06' THEN 30 WHEN '09' THEN 30 WHEN '11' THEN 30 ELSE 31 END END;

-- A name as every key is: a text of 1 to 200 characters, not blank in any script, without control characters.
CREATE FUNCTION countersign.is_name(value jsonb) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN jsonb_typeof(value) = 'string' AND length(value #>> '{}') BETWEEN 1 AND 200 AND value #>> '{}' !~ '[\u0001-\u001F\u007F-\u009F]'
    AND value #>> '{}' !~ '^[ \u00A0\u1680\u2000-\u200A\u2028\u2029\u202F\u205F\u3000]*$';

-- A text, or nothing.
CREATE FUNCTION countersign.is_text_or_null(value jsonb) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN coalesce(jsonb_typeof(value), 'null') IN ('string', 'null');

-- An exact decimal within the minor units of a currency.
CREATE FUNCTION countersign.is_amount(value jsonb, currency text) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN countersign.is_decimal(value) THEN scale((value #>> '{}')::numeric) <= countersign.minor_units(currency) ELSE false END;
CREATE FUNCTION countersign.is_amount_or_null(value jsonb, currency text) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN coalesce(jsonb_typeof(value), 'null') = 'null' THEN true ELSE countersign.is_amount(value, currency) END;

-- What is wrong with the numbers or the depth of a document, whatever it means, as `faults` tells it; NULL if nothing. Numbers are looked
-- for in the text itself, because a jsonb does not say how they were written: first as if there were no strings, and only where something
-- looks like one without the strings.
CREATE FUNCTION countersign.shape_fault(d jsonb, body text) RETURNS text[] LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_bare text;
BEGIN
    IF body ~ '[,:[][[:space:]]*-?[0-9]+[.eE]' OR body ~ '[,:[][[:space:]]*-?[0-9]{19}' THEN
        v_bare := regexp_replace(body, '"(?:[^"\\]|\\.)*"', '""', 'g');
        IF v_bare ~ '[,:[][[:space:]]*-?[0-9]+[.eE]' THEN
            RETURN ARRAY[NULL, 'AMOUNT', 'it has a JSON number with a fraction or an exponent, which loses digits on the way: a decimal in a string is expected'];
        END IF;
        IF EXISTS (SELECT 1 FROM regexp_matches(v_bare, '[,:[][[:space:]]*(-?[0-9]{19,})', 'g') AS m WHERE NOT m[1]::numeric BETWEEN -9223372036854775808 AND 9223372036854775807) THEN
            RETURN ARRAY[NULL, 'FIELD', 'it has a JSON number that is not within 64 bits'];
        END IF;
    END IF;
    -- A name may be written with escapes.
    IF (body ~ '"[^"]*(amount|rate|units|quantity|confidence)[^"]*"[[:space:]]*:[[:space:]]*[-0-9[]' OR strpos(body, '\u') > 0)
       AND jsonb_path_exists(d, '$.** ? (@.type() == "object").keyvalue() ? (@.key like_regex "amount|rate|units|quantity|confidence").value[*][*] ? (@.type() == "number")') THEN
        RETURN ARRAY[NULL, 'AMOUNT', 'an amount, a rate, units, a quantity or a confidence is a JSON number, which loses digits on the way: a decimal in a string is expected'];
    END IF;
    IF jsonb_path_exists(d, 'strict $.**{127 to last} ? (@.type() == "object" || @.type() == "array")') THEN
        RETURN ARRAY[NULL, 'UNREADABLE', 'it is nested more than 127 deep'];
    END IF;
    RETURN NULL;
END $$;

-- What is wrong with one side of a reconciliation break, which may be missing; NULL if nothing.
CREATE FUNCTION countersign.side_fault(payload jsonb, name text) RETURNS text[] LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_side jsonb := payload -> name;
    v_path text := 'payload.' || name;
BEGIN
    RETURN CASE
        WHEN coalesce(jsonb_typeof(v_side), 'null') = 'null' THEN NULL
        WHEN jsonb_typeof(v_side) <> 'object' THEN ARRAY[v_path, 'FIELD', 'an object is expected, or null']
        WHEN (jsonb_typeof(v_side -> 'source_id') = 'string') IS NOT TRUE THEN ARRAY[v_path || '.source_id', 'FIELD', 'a text is expected']
        WHEN (jsonb_typeof(v_side -> 'date') = 'string' AND countersign.is_day(v_side ->> 'date')) IS NOT TRUE
            THEN ARRAY[v_path || '.date', 'DATE', 'a day of the years 1970 to 9999 is expected, as YYYY-MM-DD']
        WHEN NOT countersign.is_text_or_null(v_side -> 'reference') THEN ARRAY[v_path || '.reference', 'FIELD', 'a text is expected, or null']
        WHEN NOT countersign.is_text_or_null(v_side -> 'counterparty') THEN ARRAY[v_path || '.counterparty', 'FIELD', 'a text is expected, or null']
        WHEN (jsonb_typeof(v_side -> 'currency') = 'string' AND countersign.minor_units(v_side ->> 'currency') IS NOT NULL) IS NOT TRUE
            THEN ARRAY[v_path || '.currency', 'CURRENCY', 'a currency of ISO 4217 with minor units is expected']
        WHEN countersign.is_amount_or_null(v_side -> 'amount', v_side ->> 'currency') IS NOT TRUE
            THEN ARRAY[v_path || '.amount', 'AMOUNT', format('an exact decimal in a string with at most %s decimal places is expected, or null', countersign.minor_units(v_side ->> 'currency'))]
        END;
END $$;

-- What is wrong with the lines that a claim carries itself; NULL if nothing.
CREATE FUNCTION countersign.line_items_fault(payload jsonb, currency text) RETURNS text[] LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_bad bigint;
BEGIN
    IF (jsonb_typeof(payload -> 'line_item_count') = 'number' AND payload ->> 'line_item_count' ~ '^[0-9]{1,18}$') IS NOT TRUE THEN
        RETURN ARRAY['payload.line_item_count', 'LINE_ITEMS', 'a whole number is expected'];
    END IF;
    IF coalesce(jsonb_typeof(payload -> 'line_items_sha256'), 'null') <> 'null' THEN
        RETURN NULL;
    END IF;
    IF (jsonb_typeof(payload -> 'line_items') = 'array' AND payload -> 'line_items' <> '[]') IS NOT TRUE THEN
        RETURN ARRAY['payload.line_items', 'LINE_ITEMS', 'the line items are expected, or line_items_sha256 where they come apart from the claim'];
    END IF;
    SELECT min(i.n) INTO v_bad FROM jsonb_array_elements(payload -> 'line_items') WITH ORDINALITY AS i (l, n)
    WHERE CASE WHEN jsonb_typeof(i.l) <> 'object' THEN true ELSE
        EXISTS (SELECT 1 FROM jsonb_each(i.l) AS f WHERE f.value <> 'null' AND CASE
            WHEN f.key IN ('units', 'tier_rate', 'quantity', 'unit_price', 'list_price') THEN NOT countersign.is_decimal(f.value)
            WHEN f.key IN ('line_amount', 'coupon', 'retailer_match', 'billed', 'paid', 'discount', 'adjustment') THEN NOT countersign.is_amount(f.value, currency)
            ELSE false END) END;
    IF v_bad IS NOT NULL THEN
        RETURN ARRAY[format('payload.line_items[%s]', v_bad - 1), 'LINE_ITEMS', 'an object is expected, whose decimals are exact and in strings, and whose amounts are within the minor units'];
    END IF;
    IF jsonb_array_length(payload -> 'line_items') > (payload ->> 'line_item_count')::bigint THEN
        RETURN ARRAY['payload.line_item_count', 'LINE_ITEMS', format('%s is expected at least, as many as there are line items', jsonb_array_length(payload -> 'line_items'))];
    END IF;
    RETURN NULL;
END $$;

-- What is wrong with each arrival that passes not every gate: its place, and the field, the cause (as dead letters have it) and the reason
-- of the first one. countersign-admin judges more closely, and in more words; this keeps out what everything later relies on. A reversal has the
-- payload of what it reverses, which was judged when that arrived.
CREATE FUNCTION countersign.faults(p_docs jsonb[], p_bodies text[]) RETURNS TABLE (n integer, fault text[])
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET jit = off AS $$
BEGIN
    RETURN QUERY
    WITH judged AS MATERIALIZED (
        SELECT i.n::integer AS n, CASE
            WHEN i.body IS NULL THEN ARRAY[NULL, 'UNREADABLE', 'the arrival is NULL']
            WHEN octet_length(i.body) > 16777216 THEN ARRAY[NULL, 'UNREADABLE', format('the arrival has %s bytes, at most 16777216 are allowed', octet_length(i.body))]
            WHEN i.d IS NULL THEN ARRAY[NULL, 'UNREADABLE', 'it is not JSON that the database can hold']
            WHEN jsonb_typeof(i.d) <> 'object' THEN ARRAY[NULL, 'UNREADABLE', 'a JSON object is expected, not ' || jsonb_typeof(i.d)]
            -- A field that is there twice means one thing here and another elsewhere.
            WHEN (SELECT count(*) FROM json_object_keys(i.body::json)) <> (SELECT count(*) FROM jsonb_object_keys(i.d))
                THEN ARRAY[(SELECT min(k) FROM (SELECT k FROM json_object_keys(i.body::json) AS k GROUP BY k HAVING count(*) > 1) AS k), 'FIELD', 'the field is there twice']
            -- As it is written: neither 1.0 nor 1e0.
            WHEN (i.body::json ->> 'schema_version' = '1' AND jsonb_typeof(i.d -> 'schema_version') = 'number') IS NOT TRUE THEN ARRAY['schema_version', 'SCHEMA_VERSION', 'version 1 is read, not ' || coalesce(left(i.body::json ->> 'schema_version', 60), 'none')]
            WHEN i.d - ARRAY['schema_version', 'kind', 'idempotency_key', 'trace_id', 'correlation_id', 'partition_key', 'source_hash', 'group_key', 'match_decision', 'routing_tier',
                             'ledger_entity', 'counterparty', 'currency', 'variance_amount', 'prepared_by', 'submitted_at', 'business_date', 'due_date', 'reverses', 'payload'] <> '{}'
                THEN ARRAY[(SELECT min(k) FROM jsonb_object_keys(i.d - ARRAY['schema_version', 'kind', 'idempotency_key', 'trace_id', 'correlation_id', 'partition_key', 'source_hash', 'group_key',
                    'match_decision', 'routing_tier', 'ledger_entity', 'counterparty', 'currency', 'variance_amount', 'prepared_by', 'submitted_at', 'business_date', 'due_date', 'reverses', 'payload']) AS k),
                    'FIELD', 'an arrival of version 1 has no such field']
            WHEN (jsonb_typeof(i.d -> 'kind') = 'string' AND i.d ->> 'kind' IN ('recon_break', 'sales_claim', 'receipt')) IS NOT TRUE
                THEN ARRAY['kind', 'UNKNOWN_VALUE', 'recon_break, sales_claim or receipt is expected']
            WHEN (jsonb_typeof(i.d -> 'match_decision') = 'string' AND i.d ->> 'match_decision' IN ('MATCHED', 'PARTIAL', 'UNMATCHED')) IS NOT TRUE
                THEN ARRAY['match_decision', 'UNKNOWN_VALUE', 'MATCHED, PARTIAL or UNMATCHED is expected']
            WHEN (jsonb_typeof(i.d -> 'routing_tier') = 'string' AND i.d ->> 'routing_tier' IN ('standard', 'priority', 'escalated')) IS NOT TRUE
                THEN ARRAY['routing_tier', 'UNKNOWN_VALUE', 'standard, priority or escalated is expected']
            WHEN countersign.is_name(i.d -> 'idempotency_key') IS NOT TRUE THEN ARRAY['idempotency_key', 'NAME', 'a text of 1 to 200 characters without control characters is expected']
            WHEN countersign.is_name(i.d -> 'partition_key') IS NOT TRUE THEN ARRAY['partition_key', 'NAME', 'a text of 1 to 200 characters without control characters is expected']
            WHEN countersign.is_name(i.d -> 'source_hash') IS NOT TRUE THEN ARRAY['source_hash', 'NAME', 'a text of 1 to 200 characters without control characters is expected']
            WHEN countersign.is_name(i.d -> 'ledger_entity') IS NOT TRUE THEN ARRAY['ledger_entity', 'NAME', 'a text of 1 to 200 characters without control characters is expected']
            WHEN coalesce(i.d -> 'group_key', 'null') <> 'null' AND countersign.is_name(i.d -> 'group_key') IS NOT TRUE
                THEN ARRAY['group_key', 'NAME', 'a text of 1 to 200 characters without control characters is expected, or null']
            WHEN coalesce(i.d -> 'reverses', 'null') <> 'null' AND countersign.is_name(i.d -> 'reverses') IS NOT TRUE
                THEN ARRAY['reverses', 'NAME', 'a text of 1 to 200 characters without control characters is expected, or null']
            WHEN (jsonb_typeof(i.d -> 'trace_id') = 'string' AND i.d ->> 'trace_id' ~ '^([0-9a-fA-F]{8}-([0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}|[0-9a-fA-F]{32})$') IS NOT TRUE
                THEN ARRAY['trace_id', 'FIELD', 'a UUID is expected']
            WHEN (jsonb_typeof(i.d -> 'correlation_id') = 'string' AND i.d ->> 'correlation_id' ~ '^([0-9a-fA-F]{8}-([0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}|[0-9a-fA-F]{32})$') IS NOT TRUE
                THEN ARRAY['correlation_id', 'FIELD', 'a UUID is expected']
            WHEN (jsonb_typeof(i.d -> 'counterparty') = 'string' AND length(i.d ->> 'counterparty') <= 1000) IS NOT TRUE
                THEN ARRAY['counterparty', 'FIELD', 'a text of at most 1000 characters is expected']
            WHEN (jsonb_typeof(i.d -> 'currency') = 'string' AND countersign.minor_units(i.d ->> 'currency') IS NOT NULL) IS NOT TRUE
                THEN ARRAY['currency', 'CURRENCY', 'a currency of ISO 4217 with minor units is expected']
            WHEN countersign.is_decimal(i.d -> 'variance_amount') IS NOT TRUE
                THEN ARRAY['variance_amount', 'AMOUNT', 'an exact decimal of at most 28 digits in a string is expected']
            WHEN scale((i.d ->> 'variance_amount')::numeric) > countersign.minor_units(i.d ->> 'currency')
                THEN ARRAY['variance_amount', 'AMOUNT', format('it has %s decimal places, %s has %s', scale((i.d ->> 'variance_amount')::numeric), i.d ->> 'currency', countersign.minor_units(i.d ->> 'currency'))]
            WHEN (jsonb_typeof(i.d -> 'prepared_by') = 'array' AND jsonb_array_length(i.d -> 'prepared_by') BETWEEN 1 AND 50) IS NOT TRUE
                THEN ARRAY['prepared_by', 'FIELD', 'a list of 1 to 50 people is expected']
            WHEN EXISTS (SELECT 1 FROM jsonb_array_elements(i.d -> 'prepared_by') AS p WHERE (countersign.is_name(p) AND countersign.folded(p #>> '{}') <> '') IS NOT TRUE)
                THEN ARRAY['prepared_by', 'NAME', 'names of 1 to 200 characters without control characters are expected']
            WHEN (jsonb_typeof(i.d -> 'submitted_at') = 'string' AND countersign.is_day(left(i.d ->> 'submitted_at', 10))
                  AND substr(i.d ->> 'submitted_at', 11) ~ '^[Tt]([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]([.][0-9]{1,9})?([Zz]|[+-]00:00)$') IS NOT TRUE
                THEN ARRAY['submitted_at', 'DATE', 'an instant of RFC 3339 in UTC is expected, of the years 1970 to 9999']
            WHEN coalesce(i.d -> 'business_date', 'null') <> 'null' AND (jsonb_typeof(i.d -> 'business_date') = 'string' AND countersign.is_day(i.d ->> 'business_date')) IS NOT TRUE
                THEN ARRAY['business_date', 'DATE', 'a day of the years 1970 to 9999 is expected, as YYYY-MM-DD']
            WHEN coalesce(i.d -> 'due_date', 'null') <> 'null' AND (jsonb_typeof(i.d -> 'due_date') = 'string' AND countersign.is_day(i.d ->> 'due_date')) IS NOT TRUE
                THEN ARRAY['due_date', 'DATE', 'a day of the years 1970 to 9999 is expected, as YYYY-MM-DD']
            WHEN (jsonb_typeof(i.d -> 'payload') = 'object') IS NOT TRUE THEN ARRAY['payload', 'FIELD', 'an object is expected']
            WHEN i.d ->> 'kind' = 'recon_break' THEN CASE
                WHEN (jsonb_typeof(i.d -> 'payload' -> 'statement_line') = 'object' OR jsonb_typeof(i.d -> 'payload' -> 'ledger_entry') = 'object') IS NOT TRUE
                    THEN ARRAY['payload', 'FIELD', 'statement_line or ledger_entry is expected']
                WHEN NOT countersign.is_text_or_null(i.d -> 'payload' -> 'reason') THEN ARRAY['payload.reason', 'FIELD', 'a text is expected, or null']
                WHEN countersign.side_fault(i.d -> 'payload', 'statement_line') IS NOT NULL THEN countersign.side_fault(i.d -> 'payload', 'statement_line')
                WHEN countersign.side_fault(i.d -> 'payload', 'ledger_entry') IS NOT NULL THEN countersign.side_fault(i.d -> 'payload', 'ledger_entry')
                WHEN i.d ->> 'source_hash' <> encode(sha256(convert_to((i.d ->> 'idempotency_key') || ':' || (i.d ->> 'ledger_entity') || ':' || (i.d ->> 'variance_amount') || ':' || (i.d ->> 'match_decision'), 'UTF8')), 'hex')
                    THEN ARRAY['source_hash', 'SOURCE_HASH', 'the SHA-256 of idempotency_key:ledger_entity:variance_amount:match_decision is expected']
                END
            WHEN i.d ->> 'reverses' IS NOT NULL THEN NULL
            WHEN i.d ->> 'kind' = 'sales_claim' THEN CASE
                WHEN (jsonb_typeof(i.d -> 'payload' -> 'agreement_version') = 'number' AND i.d -> 'payload' ->> 'agreement_version' ~ '^[1-9][0-9]{0,8}$') IS NOT TRUE
                    THEN ARRAY['payload.agreement_version', 'AGREEMENT', 'a pinned version of the agreement is expected, from 1 on']
                WHEN (jsonb_typeof(i.d -> 'payload' -> 'retailer_invoice') = 'string') IS NOT TRUE THEN ARRAY['payload.retailer_invoice', 'FIELD', 'a text is expected']
                WHEN (jsonb_typeof(i.d -> 'payload' -> 'line_item_hash') = 'string') IS NOT TRUE THEN ARRAY['payload.line_item_hash', 'FIELD', 'a text is expected']
                WHEN (jsonb_typeof(i.d -> 'payload' -> 'promo_tier') = 'string') IS NOT TRUE THEN ARRAY['payload.promo_tier', 'FIELD', 'a text is expected']
                WHEN (jsonb_typeof(i.d -> 'payload' -> 'claim_period') = 'string') IS NOT TRUE THEN ARRAY['payload.claim_period', 'FIELD', 'a text is expected']
                WHEN strpos((i.d -> 'payload' ->> 'retailer_invoice') || (i.d -> 'payload' ->> 'line_item_hash') || (i.d -> 'payload' ->> 'promo_tier') || (i.d -> 'payload' ->> 'claim_period'), '|') > 0
                    THEN ARRAY['payload', 'NAME', 'retailer_invoice, line_item_hash, promo_tier and claim_period hold no |, which separates them in the key']
                WHEN i.d ->> 'idempotency_key' <> encode(sha256(convert_to((i.d -> 'payload' ->> 'retailer_invoice') || '|' || (i.d -> 'payload' ->> 'line_item_hash') || '|' || (i.d -> 'payload' ->> 'promo_tier')
                                                                           || '|' || (i.d -> 'payload' ->> 'claim_period'), 'UTF8')), 'hex')
                    THEN ARRAY['idempotency_key', 'KEY', 'the SHA-256 of retailer_invoice|line_item_hash|promo_tier|claim_period is expected']
                WHEN countersign.is_name(i.d -> 'payload' -> 'vendor_id') IS NOT TRUE THEN ARRAY['payload.vendor_id', 'VENDOR', 'the id of a registered vendor is expected']
                WHEN coalesce(i.d -> 'payload' -> 'qualifying_units', 'null') <> 'null' AND countersign.is_decimal(i.d -> 'payload' -> 'qualifying_units') IS NOT TRUE
                    THEN ARRAY['payload.qualifying_units', 'AMOUNT', 'an exact decimal of at most 28 digits in a string is expected']
                WHEN coalesce(i.d -> 'payload' -> 'tier_rate', 'null') <> 'null' AND countersign.is_decimal(i.d -> 'payload' -> 'tier_rate') IS NOT TRUE
                    THEN ARRAY['payload.tier_rate', 'AMOUNT', 'an exact decimal of at most 28 digits in a string is expected']
                WHEN countersign.is_amount(i.d -> 'payload' -> 'claimed_amount', i.d ->> 'currency') IS NOT TRUE
                    THEN ARRAY['payload.claimed_amount', 'AMOUNT', 'an exact decimal in a string within the minor units of the currency is expected']
                WHEN countersign.is_amount_or_null(i.d -> 'payload' -> 'contract_amount', i.d ->> 'currency') IS NOT TRUE
                    THEN ARRAY['payload.contract_amount', 'AMOUNT', 'an exact decimal in a string within the minor units of the currency is expected, or null']
                WHEN countersign.line_items_fault(i.d -> 'payload', i.d ->> 'currency') IS NOT NULL THEN countersign.line_items_fault(i.d -> 'payload', i.d ->> 'currency')
                WHEN NOT EXISTS (SELECT 1 FROM countersign.vendor v WHERE v.vendor_id = i.d -> 'payload' ->> 'vendor_id' AND v.active)
                    THEN ARRAY['payload.vendor_id', 'VENDOR', format('the vendor %s is not in the register: register it with `countersign-admin vendor add`, then replay', i.d -> 'payload' -> 'vendor_id')]
                WHEN countersign.accrual(i.d) IS NULL THEN ARRAY['payload.claimed_amount', 'AMOUNT', 'an accrual that is exact within 28 digits is expected: units times rate, or what is claimed']
                WHEN coalesce(i.d -> 'payload' -> 'line_items_sha256', 'null') <> 'null' THEN
                    ARRAY['payload.line_items_sha256', 'LINE_ITEMS', countersign.claim_lines_fault(i.d ->> 'idempotency_key', i.d -> 'payload')]
                END
            ELSE CASE
                WHEN (jsonb_typeof(i.d -> 'payload' -> 'receipt_id') = 'string') IS NOT TRUE THEN ARRAY['payload.receipt_id', 'FIELD', 'a text is expected']
                WHEN (jsonb_typeof(i.d -> 'payload' -> 'submission_ts') = 'string') IS NOT TRUE THEN ARRAY['payload.submission_ts', 'FIELD', 'a text is expected']
                WHEN i.d ->> 'idempotency_key' <> encode(sha256(convert_to((i.d -> 'payload' ->> 'receipt_id') || (i.d -> 'payload' ->> 'submission_ts'), 'UTF8')), 'hex')
                    THEN ARRAY['idempotency_key', 'KEY', 'the SHA-256 of receipt_id followed by submission_ts is expected']
                WHEN countersign.is_amount(i.d -> 'payload' -> 'claimed_amount', i.d ->> 'currency') IS NOT TRUE
                    THEN ARRAY['payload.claimed_amount', 'AMOUNT', 'an exact decimal in a string within the minor units of the currency is expected']
                WHEN coalesce(jsonb_typeof(i.d -> 'payload' -> 'ocr_lines'), 'null') NOT IN ('array', 'null') THEN ARRAY['payload.ocr_lines', 'FIELD', 'a list of lines is expected']
                WHEN coalesce(i.d -> 'payload' -> 'ocr_lines', 'null') IN ('[]', 'null') THEN ARRAY['payload.ocr_lines', 'EMPTY_EXTRACTION', 'nothing was read from the receipt']
                WHEN EXISTS (SELECT 1 FROM jsonb_array_elements(i.d -> 'payload' -> 'ocr_lines') AS l WHERE (
                        jsonb_typeof(l) = 'object' AND CASE WHEN coalesce(l -> 'confidence', 'null') = 'null' THEN coalesce(i.d -> 'payload' -> 'mean_confidence', 'null') <> 'null'
                            WHEN countersign.is_decimal(l -> 'confidence') THEN (l ->> 'confidence')::numeric BETWEEN 0 AND 1 ELSE false END) IS NOT TRUE)
                    THEN ARRAY['payload.ocr_lines', 'FIELD', 'a line is an object, and its confidence a decimal from 0 to 1 in a string; it may be absent where mean_confidence is given']
                WHEN coalesce(i.d -> 'payload' -> 'mean_confidence', 'null') <> 'null' AND CASE WHEN countersign.is_decimal(i.d -> 'payload' -> 'mean_confidence')
                        THEN (i.d -> 'payload' ->> 'mean_confidence')::numeric BETWEEN 0 AND 1 ELSE false END IS NOT TRUE
                    THEN ARRAY['payload.mean_confidence', 'FIELD', 'a decimal from 0 to 1 in a string is expected']
                END
            END AS fault
        FROM unnest(p_docs, p_bodies) WITH ORDINALITY AS i (d, body, n)
    )
    SELECT f.n, f.fault FROM (
        SELECT j.n, CASE WHEN j.fault[3] IS NOT NULL THEN j.fault ELSE countersign.shape_fault(p_docs[j.n], p_bodies[j.n]) END AS fault FROM judged j) AS f
    WHERE f.fault[3] IS NOT NULL;
END $$;
DROP FUNCTION countersign.passes_gates(jsonb, text);

-- Whether a receipt that passed its gates needs no reviewer: it was read well enough, it is matched, nothing is left over, and what was read is
-- what was claimed: an amount above zero and not above the one that is escalated.
CREATE FUNCTION countersign.needs_nobody(d jsonb, escalate_above numeric) RETURNS boolean LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF (d ->> 'kind' = 'receipt' AND d ->> 'reverses' IS NULL AND d ->> 'match_decision' = 'MATCHED' AND (d ->> 'variance_amount')::numeric = 0
        AND countersign.is_amount(d -> 'payload' -> 'extracted_amount', d ->> 'currency')
        AND countersign.is_amount(d -> 'payload' -> 'claimed_amount', d ->> 'currency')) IS NOT TRUE THEN
        RETURN false;
    END IF;
    RETURN (d -> 'payload' ->> 'extracted_amount')::numeric = (d -> 'payload' ->> 'claimed_amount')::numeric
        AND (d -> 'payload' ->> 'claimed_amount')::numeric > 0 AND coalesce((d -> 'payload' ->> 'claimed_amount')::numeric <= escalate_above, false)
        AND coalesce(countersign.receipt_drift(d -> 'payload') <= 0.15, false);
END $$;

-- Taking in ------------------------------------------------------------------------------------------------------------------------

-- Takes arrivals in, set-based, with an answer for each:
--   ENQUEUED    new;
--   RELEASED    a new receipt that needs no reviewer: it goes on to policy validation;
--   DUPLICATE   the key is known with this source hash, or this very content: a redelivery, nothing happens;
--   CORRECTED   the key is known with another source hash and still pending: a new version. A first approval lapses, and who sent it
--               counts as a preparer;
--   CONFLICT    the key is known with another source hash, and decided, released or in another partition; or it reverses what cannot be
--               reversed: nothing happens;
--   REFUSED     it passes not every gate: nothing happens.
-- It never fails for what one of them says, so that none stops its neighbours or its partition. Two calls that bring one key into two partitions in
-- the same moment are told apart by a serialization failure: the second comes again.
-- A body is the arrival as JSON text; its exact bytes are what a sign-off binds. A reversal names in `reverses` the key of the
-- approved and resolved exception that it undoes; it is in the same partition, with the opposite amount.
-- Without a `due_date` the policy in force says when it is due; a correction is due anew.
CREATE FUNCTION countersign.take_in(p_bodies text[])
RETURNS TABLE (ordinal integer, outcome text, exception_id bigint, field text, detail text, cause text)
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET datestyle = 'ISO, YMD' SET timezone = 'UTC' SET jit = off AS $$
#variable_conflict use_column
DECLARE
    v_docs jsonb[];
    v_bodies text[] := p_bodies;
    v_places integer[];
    v_bad integer[];
    v_now timestamptz;
    v_reversals integer[];
    v_ends integer[];
    v_repeats integer[];
    v_first_repeats integer[];
    v_last_repeats integer[];
    v_alerts integer;
    v_touched text[];
    v_key countersign.audit_key;
    v_policy jsonb := (countersign.policy()).document;
    v_escalate_above numeric := (v_policy -> 'scoring' ->> 'escalate_above')::numeric;
    v_entity_cost constant interval := '5 minutes';
    v_counterparty_cost constant interval := '1 hour';
    v_longest_lag constant interval := '7 days';
BEGIN
    PERFORM countersign.read_committed();
    IF coalesce(array_ndims(p_bodies), 1) <> 1 OR cardinality(p_bodies) > 5000 THEN
        RAISE EXCEPTION 'enqueue takes at most 5000 arrivals a call in one list, not %', cardinality(p_bodies) USING ERRCODE = 'program_limit_exceeded';
    END IF;
    -- All at once, and one by one only where one of them does not read.
    BEGIN
        SELECT array_agg(b::jsonb ORDER BY n) INTO v_docs FROM unnest(p_bodies) WITH ORDINALITY AS i (b, n);
    EXCEPTION WHEN data_exception OR program_limit_exceeded THEN
        SELECT array_agg(countersign.readable(b) ORDER BY n) INTO v_docs FROM unnest(p_bodies) WITH ORDINALITY AS i (b, n);
    END;
    IF v_docs IS NULL THEN
        RETURN;
    END IF;
    FOR ordinal, field, cause, detail IN SELECT f.n, f.fault[1], f.fault[2], f.fault[3] FROM countersign.faults(v_docs, p_bodies) AS f LOOP
        v_bad := v_bad || ordinal;
        outcome := 'REFUSED';
        RETURN NEXT;
    END LOOP;
    IF v_bad IS NULL THEN
        SELECT array_agg(n) INTO v_places FROM generate_series(1, cardinality(v_docs)) AS n;
    ELSE
        SELECT array_agg(i.d ORDER BY i.n), array_agg(i.body ORDER BY i.n), array_agg(i.n::integer ORDER BY i.n) INTO v_docs, v_bodies, v_places
        FROM unnest(v_docs, p_bodies) WITH ORDINALITY AS i (d, body, n) WHERE NOT i.n = ANY (v_bad);
        IF v_docs IS NULL THEN
            RETURN;
        END IF;
    END IF;

    INSERT INTO countersign.partition (partition_key, kinds, tiers, ledger_entity)
    SELECT d ->> 'partition_key', 0, 0, min(d ->> 'ledger_entity') FROM unnest(v_docs) AS d GROUP BY 1 ORDER BY 1
    ON CONFLICT DO NOTHING;
    PERFORM 1 FROM countersign.partition p
    WHERE p.partition_key IN (
        SELECT d ->> 'partition_key' FROM unnest(v_docs) AS d
        UNION
        SELECT e.partition_key FROM unnest(v_docs) AS d JOIN countersign.exception e ON e.idempotency_key = d ->> 'idempotency_key')
    ORDER BY p.partition_key FOR NO KEY UPDATE;
    -- A receipt is released or pending, never both, whatever partitions it comes to in one moment.
    PERFORM pg_advisory_xact_lock(1668181874, k.slot) FROM (
        SELECT DISTINCT hashtext(d ->> 'idempotency_key') & 63 AS slot FROM unnest(v_docs) AS d WHERE d ->> 'kind' = 'receipt' ORDER BY 1) AS k;
    v_key := countersign.sealing_key();
    v_now := clock_timestamp();

    -- The flows of what is new, in one order everywhere. One of which nothing is pending starts anew.
    WITH fresh AS MATERIALIZED (
        SELECT countersign.entity_flow(d ->> 'ledger_entity') AS entity, countersign.counterparty_flow(d) AS counterparty, d ->> 'ledger_entity' AS name,
               CASE WHEN d ->> 'kind' <> 'sales_claim' THEN md5(d ->> 'counterparty')::uuid END AS whom
        FROM unnest(v_docs) AS d
        WHERE NOT EXISTS (SELECT 1 FROM countersign.exception e WHERE e.idempotency_key = d ->> 'idempotency_key')
    )
    INSERT INTO countersign.flow (flow, ledger_entity, counterparty, next)
    SELECT DISTINCT ON (1) f.flow, f.name, f.whom, v_now
    FROM (SELECT entity, name, NULL::uuid FROM fresh UNION ALL SELECT counterparty, name, whom FROM fresh) AS f (flow, name, whom) ORDER BY 1
    ON CONFLICT (flow) DO UPDATE SET next = CASE
        WHEN flow.next <= v_now OR EXISTS (
            SELECT 1 FROM countersign.backlog_class c CROSS JOIN LATERAL (
                SELECT 1 FROM countersign.pending_line l
                WHERE l.class = c.id AND (flow.counterparty IS NULL OR l.counterparty = flow.counterparty) LIMIT 1) AS l
            WHERE c.ledger_entity = flow.ledger_entity) THEN flow.next
        ELSE v_now END;

    -- A key that comes twice in one call is judged in the order of arrival, one round each: the arrivals are put in the order of their rounds,
    -- and `v_ends` says where each ends. What repeats the body before it has no round of its own: nothing happens between the two.
    WITH item AS (
        SELECT i.n, i.d, i.body, i.d ->> 'idempotency_key' AS key,
               coalesce(i.body = lag(i.body) OVER (PARTITION BY i.d ->> 'idempotency_key' ORDER BY i.n), false) AS repeats,
               row_number() OVER (PARTITION BY i.d ->> 'reverses' ORDER BY i.n) AS nth_reversal
        FROM unnest(v_docs, v_bodies, v_places) AS i (d, body, n)
    ), rounds AS MATERIALIZED (
        SELECT i.*, count(*) FILTER (WHERE NOT i.repeats) OVER (PARTITION BY i.key ORDER BY i.n) AS round FROM item i
    ), repeated AS MATERIALIZED (
        SELECT r.key, r.round, r.n, row_number() OVER (ORDER BY r.round, r.key, r.n) AS place FROM rounds r WHERE r.repeats
    ), span AS (
        SELECT r.key, r.round, min(r.place) AS first, max(r.place) AS last FROM repeated r GROUP BY r.key, r.round
    )
    SELECT array_agg(r.d ORDER BY r.round, r.n), array_agg(r.body ORDER BY r.round, r.n), array_agg(r.n ORDER BY r.round, r.n),
           array_agg(r.nth_reversal ORDER BY r.round, r.n), array_agg(s.first ORDER BY r.round, r.n), array_agg(s.last ORDER BY r.round, r.n),
           (SELECT array_agg(p.n ORDER BY p.place) FROM repeated p),
           (SELECT array_agg(e.upto ORDER BY e.upto) FROM (SELECT sum(count(*)) OVER (ORDER BY q.round) AS upto FROM rounds q WHERE NOT q.repeats GROUP BY q.round) AS e)
    INTO v_docs, v_bodies, v_places, v_reversals, v_first_repeats, v_last_repeats, v_repeats, v_ends
    FROM rounds r LEFT JOIN span s ON s.key = r.key AND s.round = r.round WHERE NOT r.repeats;

    FOR v_round IN 1 .. cardinality(v_ends) LOOP
        BEGIN
        RETURN QUERY
        WITH item AS MATERIALIZED (
            SELECT v_places[x] AS n, i.d, i.body, i.d ->> 'idempotency_key' AS key, i.d ->> 'partition_key' AS partition_key,
                   i.d ->> 'source_hash' AS source_hash, sha256(convert_to(i.body, 'UTF8')) AS content_hash,
                   ARRAY(SELECT jsonb_array_elements_text(i.d -> 'prepared_by')) AS prepared_by,
                   v_reversals[x] AS nth_reversal, v_first_repeats[x] AS first_repeat, v_last_repeats[x] AS last_repeat
            FROM generate_series(coalesce(v_ends[v_round - 1], 0) + 1, v_ends[v_round]) AS x
            CROSS JOIN LATERAL (SELECT v_docs[x] AS d, v_bodies[x] AS body OFFSET 0) AS i
        ), judged AS MATERIALIZED (
            SELECT i.*, e.id AS old_id, e.version AS old_version, e.content_hash AS old_hash, e.prepared_by AS old_prepared_by, o.id AS reverses,
                   e.first_by AS old_first_by, e.first_names AS old_first_names, e.barred AS old_barred,
                   e.claim_rank - countersign.claim_base(e.submitted_at, e.routing_tier, e.due_on) AS old_lag, e.kind AS old_kind, e.submitted_at AS old_submitted_at,
                   CASE WHEN r.idempotency_key IS NOT NULL THEN CASE WHEN r.source_hash = i.source_hash OR r.content_hash = i.content_hash THEN 'DUPLICATE' ELSE 'CONFLICT' END
                        WHEN e.id IS NULL AND i.d ->> 'reverses' IS NOT NULL AND (
                                i.nth_reversal = 1 AND o.state = 'RESOLVED' AND o.decision = 'APPROVE' AND o.partition_key = i.partition_key
                                AND o.kind = i.d ->> 'kind' AND o.ledger_entity = i.d ->> 'ledger_entity' AND o.currency = i.d ->> 'currency'
                                AND o.variance_amount = -(i.d ->> 'variance_amount')::numeric
                                AND EXISTS (SELECT 1 FROM countersign.posting g WHERE g.exception_id = o.id)
                                AND NOT EXISTS (SELECT 1 FROM countersign.exception r WHERE r.reverses = o.id)) IS NOT TRUE THEN 'CONFLICT'
                        WHEN e.id IS NULL AND i.d ->> 'kind' = 'receipt' AND countersign.needs_nobody(i.d, v_escalate_above) THEN 'RELEASED'
                        WHEN e.id IS NULL THEN 'ENQUEUED'
                        WHEN e.source_hash = i.source_hash THEN 'DUPLICATE'
                        -- A late delivery of an earlier version must not undo its correction.
                        WHEN EXISTS (SELECT 1 FROM countersign.exception_content c
                                     WHERE c.exception_id = e.id AND c.content_hash = i.content_hash) THEN 'DUPLICATE'
                        -- What is reversed stays what it is: only the words around it can be corrected.
                        WHEN e.reverses IS NOT NULL AND (e.reverses = o.id AND e.variance_amount = (i.d ->> 'variance_amount')::numeric
                                                         AND e.currency = i.d ->> 'currency' AND e.ledger_entity = i.d ->> 'ledger_entity') IS NOT TRUE THEN 'CONFLICT'
                        WHEN e.reverses IS NULL AND i.d ->> 'reverses' IS NOT NULL THEN 'CONFLICT'
                        WHEN e.state = 'PENDING' AND e.partition_key = i.partition_key AND e.kind = i.d ->> 'kind' THEN 'CORRECTED'
                        ELSE 'CONFLICT' END AS outcome,
                   CASE WHEN r.idempotency_key IS NOT NULL THEN CASE WHEN r.content_hash = i.content_hash THEN NULL
                                WHEN r.source_hash = i.source_hash THEN 'same source hash, other content: the first content stands'
                                ELSE 'already released to ' || r.routed_to END
                        WHEN e.id IS NULL AND i.d ->> 'reverses' IS NOT NULL
                            THEN 'a reversal is of an approved and posted exception of the same partition, kind, entity and currency, with the opposite amount, and there is one at most'
                        WHEN e.source_hash = i.source_hash AND e.content_hash <> i.content_hash
                            THEN 'same source hash, other content: the first content stands'
                        WHEN e.source_hash <> i.source_hash AND e.partition_key <> i.partition_key
                            THEN 'the key is known in partition ' || e.partition_key
                        WHEN e.source_hash <> i.source_hash AND e.state <> 'PENDING'
                            THEN 'already ' || lower(e.state) || ' by ' || coalesce(e.decided_by, '?')
                        WHEN e.source_hash <> i.source_hash AND (e.reverses IS NOT NULL OR i.d ->> 'reverses' IS NOT NULL)
                            THEN 'what a reversal undoes cannot be corrected'
                        WHEN e.source_hash <> i.source_hash AND e.kind <> i.d ->> 'kind'
                            THEN format('it is pending as %s: a correction does not change the kind', e.kind) END AS detail
            FROM item i LEFT JOIN countersign.exception e ON e.idempotency_key = i.key
                        LEFT JOIN countersign.exception o ON o.idempotency_key = i.d ->> 'reverses'
                        LEFT JOIN countersign.released r ON r.idempotency_key = i.key
        ), person AS MATERIALIZED (
            -- Who is barred: the preparers, whoever sends it, and for a reversal all who signed what it reverses.
            -- Who approved an earlier version first may sign the new one.
            SELECT j.n, ARRAY(
                SELECT countersign.folded(x) FROM unnest(j.prepared_by) AS x
                UNION SELECT countersign.folded(session_user)
                UNION SELECT unnest(countersign.names_of(s.reviewer)) FROM countersign.sign_off s WHERE s.exception_id = j.reverses
                UNION SELECT b FROM unnest(j.old_barred) AS b WHERE NOT b = ANY (coalesce(j.old_first_names, '{}'))
                ORDER BY 1) AS barred
            FROM judged j WHERE j.outcome IN ('ENQUEUED', 'CORRECTED')
        ), due AS MATERIALIZED (
            SELECT j.n, (j.d ->> 'submitted_at')::timestamptz AS submitted_at, b.day AS business_date,
                   coalesce((j.d ->> 'due_date')::date, b.day + countersign.due_days(v_policy, j.d ->> 'routing_tier')) AS due_on
            FROM judged j CROSS JOIN LATERAL (
                SELECT coalesce((j.d ->> 'business_date')::date, ((j.d ->> 'submitted_at')::timestamptz AT TIME ZONE 'UTC')::date) AS day) AS b
            WHERE j.outcome IN ('ENQUEUED', 'CORRECTED')
        ), flowing AS MATERIALIZED (
            SELECT j.n, countersign.entity_flow(j.d ->> 'ledger_entity') AS entity, countersign.counterparty_flow(j.d) AS counterparty
            FROM judged j WHERE j.outcome = 'ENQUEUED'
        ), put_off AS MATERIALIZED (
            SELECT f.*, greatest(e.next, v_now) - v_now AS by_entity,
                   greatest(c.next, v_now) - v_now + (row_number() OVER (PARTITION BY f.counterparty ORDER BY f.n) - 1) * v_counterparty_cost AS by_counterparty,
                   greatest(c.next, v_now) + (row_number() OVER (PARTITION BY f.counterparty ORDER BY f.n) - 1) * v_counterparty_cost
                       <= greatest(e.next, v_now) + (row_number() OVER (PARTITION BY f.entity ORDER BY f.n) - 1) * v_entity_cost AS costs
            FROM flowing f JOIN countersign.flow e ON e.flow = f.entity JOIN countersign.flow c ON c.flow = f.counterparty
        ), place AS MATERIALIZED (
            SELECT o.n, greatest(o.by_counterparty, o.by_entity
                       + (count(*) FILTER (WHERE o.costs) OVER (PARTITION BY o.entity ORDER BY o.n) - o.costs::integer) * v_entity_cost) AS lag
            FROM put_off o
        ), flowed AS (
            UPDATE countersign.flow w SET next = least(greatest(w.next, v_now) + m.cost, v_now + v_longest_lag)
            FROM (SELECT o.entity, count(*) FILTER (WHERE o.costs) * v_entity_cost FROM put_off o GROUP BY o.entity
                  UNION ALL SELECT o.counterparty, count(*) * v_counterparty_cost FROM put_off o GROUP BY o.counterparty) AS m (flow, cost)
            WHERE w.flow = m.flow
        ), fresh AS MATERIALIZED (
            SELECT j.*, p.next_seq + row_number() OVER (PARTITION BY j.partition_key ORDER BY j.n) - 1 AS seq
            FROM judged j JOIN countersign.partition p ON p.partition_key = j.partition_key
            WHERE j.outcome = 'ENQUEUED'
        ), inserted AS (
            INSERT INTO countersign.exception (partition_key, seq, idempotency_key, kind, match_decision, routing_tier, ledger_entity,
                currency, variance_amount, prepared_by, group_key, trace_id, correlation_id, source_hash, submitted_at, arrived_at, content_hash,
                business_date, barred, reverses, counterparty, due_on, claim_rank)
            SELECT f.partition_key, f.seq, f.key, f.d ->> 'kind', f.d ->> 'match_decision', f.d ->> 'routing_tier', f.d ->> 'ledger_entity',
                   f.d ->> 'currency', (f.d ->> 'variance_amount')::numeric, f.prepared_by, f.d ->> 'group_key', (f.d ->> 'trace_id')::uuid,
                   (f.d ->> 'correlation_id')::uuid, f.source_hash, u.submitted_at, v_now, f.content_hash,
                   u.business_date, w.barred, f.reverses, f.d ->> 'counterparty', u.due_on,
                   countersign.claim_base(u.submitted_at, f.d ->> 'routing_tier', u.due_on) + least(a.lag, v_longest_lag)
            FROM fresh f JOIN person w ON w.n = f.n JOIN due u ON u.n = f.n JOIN place a ON a.n = f.n ORDER BY f.partition_key, f.seq
            RETURNING id, idempotency_key, claim_rank
        ), corrected AS (
            UPDATE countersign.exception e SET
                version = j.old_version + 1, content_hash = j.content_hash, source_hash = j.source_hash, kind = j.d ->> 'kind',
                match_decision = j.d ->> 'match_decision', routing_tier = j.d ->> 'routing_tier', ledger_entity = j.d ->> 'ledger_entity',
                currency = j.d ->> 'currency', variance_amount = (j.d ->> 'variance_amount')::numeric, group_key = j.d ->> 'group_key',
                trace_id = (j.d ->> 'trace_id')::uuid, correlation_id = (j.d ->> 'correlation_id')::uuid,
                submitted_at = u.submitted_at, business_date = u.business_date,
                prepared_by = ARRAY(SELECT DISTINCT x FROM unnest(j.old_prepared_by || j.prepared_by) AS x ORDER BY x),
                counterparty = j.d ->> 'counterparty', due_on = u.due_on, barred = w.barred, first_by = NULL, first_names = NULL,
                claim_rank = countersign.claim_base(u.submitted_at, j.d ->> 'routing_tier', u.due_on) + coalesce(j.old_lag, '0')
            FROM judged j JOIN person w ON w.n = j.n JOIN due u ON u.n = j.n WHERE j.outcome = 'CORRECTED' AND e.id = j.old_id
            RETURNING e.id, e.idempotency_key, e.claim_rank
        ), lapsed AS (
            -- What a first approval took from its reviewer's limit is given back with it.
            SELECT s.reviewer, s.period, s.currency, sum(abs(s.amount)) AS amount
            FROM judged j JOIN countersign.sign_off s ON s.exception_id = j.old_id AND s.version = j.old_version AND s.outcome = 'AWAITING_SECOND'
            WHERE j.outcome = 'CORRECTED' AND j.old_first_by IS NOT NULL AND s.period IS NOT NULL
            GROUP BY s.reviewer, s.period, s.currency
        ), given_back AS (
            UPDATE countersign.reviewer_usage u SET approved = greatest(u.approved - l.amount, 0)
            FROM lapsed l WHERE u.reviewer = l.reviewer AND u.period = l.period AND u.currency = l.currency
        ), written AS MATERIALIZED (
            SELECT j.*, coalesce(i.id, c.id) AS id, coalesce(j.old_version, 0) + 1 AS version, coalesce(i.claim_rank, c.claim_rank) AS claim_rank,
                   CASE WHEN j.d ->> 'kind' = 'receipt' THEN countersign.receipt_drift(j.d -> 'payload') END AS drift
            FROM judged j LEFT JOIN inserted i ON i.idempotency_key = j.key LEFT JOIN corrected c ON c.idempotency_key = j.key
            WHERE j.outcome IN ('ENQUEUED', 'CORRECTED', 'RELEASED')
        ), content AS (
            INSERT INTO countersign.exception_content (exception_id, version, content_hash, body, arrived_at)
            SELECT w.id, w.version, w.content_hash, w.body, v_now FROM written w WHERE w.outcome <> 'RELEASED' ORDER BY w.id
        ), captured AS (
            -- A correction takes back what its former version counted.
            INSERT INTO countersign.receipt_capture AS t (day, receipts, drifting)
            SELECT c.day, sum(c.receipts), sum(c.drifting)
            FROM (SELECT ((w.d ->> 'submitted_at')::timestamptz AT TIME ZONE 'UTC')::date, 1, (coalesce(w.drift, 1) > 0.15)::integer
                  FROM written w WHERE w.d ->> 'kind' = 'receipt'
                  UNION ALL
                  SELECT (j.old_submitted_at AT TIME ZONE 'UTC')::date, -1, -(coalesce(countersign.receipt_drift(c.body::jsonb -> 'payload'), 1) > 0.15)::integer
                  FROM judged j JOIN countersign.exception_content c ON c.exception_id = j.old_id AND c.version = j.old_version
                  WHERE j.outcome = 'CORRECTED' AND j.old_kind = 'receipt') AS c (day, receipts, drifting)
            GROUP BY c.day ORDER BY c.day
            ON CONFLICT (day) DO UPDATE SET receipts = t.receipts + excluded.receipts, drifting = t.drifting + excluded.drifting
        ), record AS MATERIALIZED (
            SELECT w.*, p.chain_head, p.chain_seq + row_number() OVER (PARTITION BY w.partition_key ORDER BY w.n) AS chain_seq,
                   row_number() OVER (PARTITION BY w.partition_key ORDER BY w.n) AS place,
                   CASE w.outcome WHEN 'ENQUEUED' THEN 'ARRIVED' WHEN 'RELEASED' THEN 'RECEIPT_RELEASED' ELSE 'CORRECTED' END AS event,
                   CASE WHEN w.outcome = 'RELEASED' THEN jsonb_build_object('idempotency_key', w.key, 'drift', w.drift::text, 'amount', w.d -> 'payload' ->> 'extracted_amount',
                                                                            'currency', w.d ->> 'currency', 'routed_to', 'policy validation')
                        WHEN w.reverses IS NOT NULL THEN jsonb_build_object('reverses', w.reverses, 'version', w.version)
                        WHEN w.old_first_by IS NOT NULL THEN jsonb_build_object('version', w.version, 'lapsed', w.old_first_by)
                        ELSE jsonb_build_object('version', w.version) END AS record_detail
            FROM written w JOIN countersign.partition p ON p.partition_key = w.partition_key
        ), chained AS MATERIALIZED (
            SELECT r.*, countersign.chain(CASE WHEN r.place = 1 THEN r.chain_head ELSE '' END || countersign.audit_record(r.partition_key,
                       r.chain_seq, v_now, r.event, session_user, NULL, r.id, (r.d ->> 'trace_id')::uuid, r.source_hash,
                       r.d ->> 'match_decision', r.content_hash, NULL, r.record_detail))
                       OVER (PARTITION BY r.partition_key ORDER BY r.chain_seq) AS chain_hash
            FROM record r
        ), audited AS (
            INSERT INTO countersign.audit_event (partition_key, chain_seq, at, event, actor, exception_id, trace_id, source_hash,
                match_decision, content_hash, detail, chain_hash, key_id, mac)
            SELECT c.partition_key, c.chain_seq, v_now, c.event, session_user, c.id, (c.d ->> 'trace_id')::uuid, c.source_hash,
                   c.d ->> 'match_decision', c.content_hash, c.record_detail, c.chain_hash, v_key.id,
                   countersign.hmac(v_key.inner_pad, v_key.outer_pad, c.chain_hash)
            FROM chained c
        ), released AS (
            INSERT INTO countersign.released (idempotency_key, partition_key, chain_seq, source_hash, content_hash, body, drift, amount, currency, released_at)
            SELECT c.key, c.partition_key, c.chain_seq, c.source_hash, c.content_hash, c.body, c.drift, (c.d -> 'payload' ->> 'extracted_amount')::numeric, c.d ->> 'currency', v_now
            FROM chained c WHERE c.outcome = 'RELEASED'
        ), moved AS (
            UPDATE countersign.partition p SET
                next_seq = p.next_seq + s.fresh, pending = p.pending + s.fresh, claim_rank = least(p.claim_rank, s.claim_rank),
                chain_seq = s.chain_seq, chain_head = s.chain_head, passed_by = '{}',
                -- What is done no longer counts: an empty partition is described anew.
                kinds = CASE WHEN p.pending = 0 THEN 0 ELSE p.kinds END | s.kinds, tiers = CASE WHEN p.pending = 0 THEN 0 ELSE p.tiers END | s.tiers,
                ledger_entity = CASE WHEN s.entities = 0 THEN p.ledger_entity
                                     WHEN s.entities = 1 AND (p.pending = 0 OR p.ledger_entity = s.ledger_entity) THEN s.ledger_entity ELSE '' END
            FROM (SELECT c.partition_key, count(*) FILTER (WHERE c.outcome = 'ENQUEUED') AS fresh, min(c.claim_rank) AS claim_rank,
                         coalesce(bit_or(countersign.kind_bit(c.d ->> 'kind')) FILTER (WHERE c.outcome <> 'RELEASED'), 0)::smallint AS kinds,
                         coalesce(bit_or(countersign.tier_bit(c.d ->> 'routing_tier')) FILTER (WHERE c.outcome <> 'RELEASED'), 0)::smallint AS tiers,
                         min(c.d ->> 'ledger_entity') FILTER (WHERE c.outcome <> 'RELEASED') AS ledger_entity,
                         count(DISTINCT c.d ->> 'ledger_entity') FILTER (WHERE c.outcome <> 'RELEASED') AS entities,
                         max(c.chain_seq) AS chain_seq, (array_agg(c.chain_hash ORDER BY c.chain_seq DESC))[1] AS chain_head
                  FROM chained c GROUP BY c.partition_key) AS s
            WHERE p.partition_key = s.partition_key
        )
        SELECT coalesce(v_repeats[p.place], j.n), CASE WHEN p.place IS NOT NULL AND j.outcome <> 'CONFLICT' THEN 'DUPLICATE' ELSE j.outcome END, coalesce(w.id, j.old_id), NULL,
               CASE WHEN j.outcome IN ('DUPLICATE', 'CONFLICT') THEN j.detail END, CASE WHEN j.outcome = 'CONFLICT' THEN 'CONFLICT' END
        FROM judged j LEFT JOIN written w ON w.n = j.n
        CROSS JOIN LATERAL (SELECT NULL::integer AS place UNION ALL SELECT generate_series(j.first_repeat, j.last_repeat)) AS p;
        EXCEPTION WHEN unique_violation THEN
            RAISE EXCEPTION 'one of these keys arrived in another partition in this very moment' USING ERRCODE = 'serialization_failure', HINT = 'Call again.';
        END;
    END LOOP;

    SELECT array_agg(DISTINCT d ->> 'partition_key') INTO v_touched FROM unnest(v_docs) AS d;
    UPDATE countersign.partition p SET shut_out = s.shut_out
    FROM (SELECT q.partition_key, countersign.shut_out(q.partition_key, q.head_seq) AS shut_out
          FROM countersign.partition q WHERE q.partition_key = ANY (v_touched)) AS s
    WHERE p.partition_key = s.partition_key AND p.shut_out <> s.shut_out;

    -- Once a day, and after the partitions, as everything that is recorded in the installation's chain.
    WITH crossed AS (
        UPDATE countersign.receipt_capture c SET alerted_at = v_now
        WHERE c.alerted_at IS NULL AND c.receipts > 0 AND 100 * c.drifting::bigint > countersign.capture_alert_percent(v_policy) * c.receipts::bigint
          AND c.day IN (SELECT ((d ->> 'submitted_at')::timestamptz AT TIME ZONE 'UTC')::date FROM unnest(v_docs) AS d WHERE d ->> 'kind' = 'receipt')
        RETURNING c.day, c.receipts, c.drifting
    )
    SELECT count(countersign.audit_installation('RECEIPTS_DRIFT', NULL, NULL, NULL, jsonb_build_object('day', c.day, 'receipts', c.receipts, 'drifting', c.drifting,
        'alert_percent', countersign.capture_alert_percent(v_policy)))) INTO v_alerts FROM (SELECT * FROM crossed c ORDER BY c.day) AS c;
END $$;

-- Takes arrivals in as `take_in` does. What is refused or in conflict becomes a dead letter in the same transaction, unless whoever calls
-- keeps it (`p_keep` false), as countersign-admin does, which knows the line and the very bytes it came in.
DROP FUNCTION countersign.enqueue(text[]);
CREATE FUNCTION countersign.enqueue(p_bodies text[], p_keep boolean DEFAULT true)
RETURNS TABLE (ordinal integer, outcome text, exception_id bigint, detail text, field text, cause text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_letters boolean := false;
    v_ordinals integer[] := '{}';
    v_outcomes text[] := '{}';
    v_fields text[] := '{}';
    v_reasons text[] := '{}';
    v_causes text[] := '{}';
BEGIN
    FOR ordinal, outcome, exception_id, field, detail, cause IN SELECT t.ordinal, t.outcome, t.exception_id, t.field, t.detail, t.cause FROM countersign.take_in(p_bodies) AS t LOOP
        IF p_keep AND outcome IN ('REFUSED', 'CONFLICT') THEN
            v_ordinals := v_ordinals || ordinal;
            v_outcomes := v_outcomes || outcome;
            v_fields := v_fields || field;
            v_reasons := v_reasons || detail;
            v_causes := v_causes || cause;
        END IF;
        RETURN NEXT;
    END LOOP;
    IF cardinality(v_ordinals) > 0 THEN
        -- What is too large to be kept is kept in part. A call of `dead_letter` takes at most 256 MiB.
        PERFORM countersign.dead_letter(
            array_agg(substring(l.original FROM 1 FOR 16777216)), array_agg(sha256(l.original)), array_agg(length(l.original)::bigint), array_agg('enqueue by ' || session_user),
            array_agg(NULL::bigint), array_agg(CASE l.outcome WHEN 'REFUSED' THEN 'POISON_MESSAGE' ELSE 'CONFLICT' END),
            array_agg(CASE l.outcome WHEN 'REFUSED' THEN 'STRUCTURAL' ELSE 'BUSINESS' END), array_agg(l.field), array_agg(l.reason), array_agg(l.key), array_agg(l.cause))
        FROM (SELECT r.*, convert_to(coalesce(p_bodies[r.ordinal], ''), 'UTF8') AS original,
                     CASE WHEN octet_length(p_bodies[r.ordinal]) <= 16777216 AND countersign.is_name(countersign.readable(p_bodies[r.ordinal]) -> 'idempotency_key')
                          THEN countersign.readable(p_bodies[r.ordinal]) ->> 'idempotency_key' END AS key,
                     sum(least(coalesce(octet_length(p_bodies[r.ordinal]), 0), 16777216)) OVER (ORDER BY r.ordinal) / 201326592 AS part
              FROM unnest(v_ordinals, v_outcomes, v_fields, v_reasons, v_causes) AS r (ordinal, outcome, field, reason, cause) ORDER BY r.ordinal) AS l
        GROUP BY l.part;
    END IF;
END $$;

-- Everything that goes by the rank takes it from the exception -----------------------------------------------------------------------

CREATE OR REPLACE FUNCTION countersign.free_partitions(p_keys text[], p_event text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_key countersign.audit_key := countersign.sealing_key();
BEGIN
    -- The record is written with the change, so that each row is written once.
    WITH record AS MATERIALIZED (
        SELECT p.partition_key, p.chain_seq + 1 AS chain_seq, p.chain_head, clock_timestamp() AS at, p.holder,
               jsonb_build_object('epoch', p.epoch, 'reviewer', p.holder_reviewer) AS detail
        FROM countersign.partition p WHERE p.partition_key = ANY (p_keys)
    ), chained AS MATERIALIZED (
        SELECT r.*, sha256(r.chain_head || countersign.audit_record(r.partition_key, r.chain_seq, r.at, p_event, session_user, r.holder,
                   NULL, NULL, NULL, NULL, NULL, NULL, r.detail)) AS chain_hash
        FROM record r
    ), audited AS (
        INSERT INTO countersign.audit_event (partition_key, chain_seq, at, event, actor, workstation, detail, chain_hash, key_id, mac)
        SELECT c.partition_key, c.chain_seq, c.at, p_event, session_user, c.holder, c.detail, c.chain_hash,
               v_key.id, countersign.hmac(v_key.inner_pad, v_key.outer_pad, c.chain_hash)
        FROM chained c
    )
    UPDATE countersign.partition p SET
        lease_until = NULL, chain_seq = c.chain_seq, chain_head = c.chain_hash,
        -- Most are given back when nothing is pending in them: there is nobody and nothing to look for.
        shut_out = CASE WHEN p.pending = 0 THEN '{}' ELSE countersign.shut_out(p.partition_key, p.head_seq) END,
        claim_rank = CASE WHEN p.pending = 0 THEN 'infinity' ELSE coalesce((
            SELECT min(coalesce(e.claim_rank, countersign.claim_rank(e.submitted_at, e.routing_tier)))
            FROM (SELECT e.claim_rank, e.submitted_at, e.routing_tier FROM countersign.exception e
                  WHERE e.partition_key = p.partition_key AND e.seq >= p.head_seq AND e.state = 'PENDING'
                  ORDER BY e.seq LIMIT 1000) AS e), 'infinity') END
    FROM chained c WHERE p.partition_key = c.partition_key;
END $$;

CREATE OR REPLACE FUNCTION countersign.pending_arrived() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET jit = off AS $$
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
               min(coalesce(e.claim_rank, countersign.claim_rank(e.submitted_at, e.routing_tier))) AS claim_rank
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

CREATE OR REPLACE FUNCTION countersign.pending_changed() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
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
               min(coalesce(n.claim_rank, countersign.claim_rank(n.submitted_at, n.routing_tier))) AS claim_rank
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

CREATE OR REPLACE FUNCTION countersign.recount(OUT pending bigint, OUT differed bigint) LANGUAGE plpgsql SECURITY DEFINER
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
           sum(abs(e.variance_amount)), min(coalesce(e.claim_rank, countersign.claim_rank(e.submitted_at, e.routing_tier))), p.shut_out
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

-- Puts a policy in force from now on. It is checked here too, because `sign_off` and arrivals read it.
CREATE OR REPLACE FUNCTION countersign.policy_set(p_document jsonb, p_comment text) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_version integer;
    v_wrong text;
BEGIN
    PERFORM countersign.read_committed();
    PERFORM countersign.reason_given(p_comment);
    v_wrong := CASE
        WHEN (jsonb_typeof(p_document) = 'object' AND length(p_document::text) <= 100000) IS NOT TRUE THEN 'it is no object of at most 100000 characters'
        WHEN (SELECT count(*) FROM jsonb_object_keys(p_document) AS k WHERE k NOT IN ('four_eyes', 'scoring', 'reason_codes', 'attestation', 'lease', 'review', 'capture')) > 0
            OR (p_document ?& ARRAY['four_eyes', 'scoring', 'reason_codes', 'attestation', 'lease']) IS NOT TRUE
            THEN 'it has exactly four_eyes, scoring, reason_codes, attestation and lease, and perhaps review and capture'
        WHEN (jsonb_typeof(p_document -> 'four_eyes') = 'array' AND jsonb_array_length(p_document -> 'four_eyes') <= 100) IS NOT TRUE THEN 'four_eyes is a list of at most 100 rules'
        WHEN EXISTS (SELECT 1 FROM jsonb_array_elements(p_document -> 'four_eyes') AS r WHERE (
                 jsonb_typeof(r) = 'object' AND r ->> 'currency' ~ '^([A-Z]{3}|[*])$' AND jsonb_typeof(r -> 'at_or_above') = 'string'
                 AND r ->> 'at_or_above' ~ '^[0-9]{1,20}([.][0-9]{1,8})?$'
                 AND coalesce(r ->> 'kind', 'receipt') IN ('recon_break', 'sales_claim', 'receipt')
                 AND coalesce(r ->> 'tier', 'standard') IN ('standard', 'priority', 'escalated')
                 AND (SELECT count(*) FROM jsonb_object_keys(r) AS k WHERE k NOT IN ('currency', 'kind', 'tier', 'at_or_above')) = 0) IS NOT TRUE)
            THEN 'a rule of four_eyes has a currency of three capital letters or *, at_or_above as a decimal in a string, and perhaps a known kind and tier'
        WHEN (jsonb_typeof(p_document -> 'scoring') = 'object' AND (p_document -> 'scoring') - ARRAY['escalate_above', 'tolerance'] = '{}'
              AND jsonb_typeof(p_document -> 'scoring' -> 'escalate_above') = 'string' AND jsonb_typeof(p_document -> 'scoring' -> 'tolerance') = 'string'
              AND p_document -> 'scoring' ->> 'escalate_above' ~ '^[0-9]{1,20}([.][0-9]{1,8})?$' AND p_document -> 'scoring' ->> 'tolerance' ~ '^[0-9]{1,20}([.][0-9]{1,8})?$') IS NOT TRUE
            THEN 'scoring has escalate_above and tolerance as decimals in strings'
        WHEN (jsonb_typeof(p_document -> 'reason_codes') = 'array' AND jsonb_array_length(p_document -> 'reason_codes') BETWEEN 1 AND 50) IS NOT TRUE
            THEN 'reason_codes is a list of 1 to 50 codes'
        WHEN EXISTS (SELECT 1 FROM jsonb_array_elements(p_document -> 'reason_codes') AS r
                     WHERE (jsonb_typeof(r) = 'object' AND r - ARRAY['code', 'text'] = '{}' AND jsonb_typeof(r -> 'code') = 'string' AND jsonb_typeof(r -> 'text') = 'string'
                            AND r ->> 'code' ~ '^[A-Z0-9_]{1,64}$' AND btrim(r ->> 'text') <> '' AND length(r ->> 'text') <= 200) IS NOT TRUE)
            OR (SELECT count(*) <> count(DISTINCT r ->> 'code') FROM jsonb_array_elements(p_document -> 'reason_codes') AS r)
            THEN 'a reason code is named once, of A-Z, 0-9 and _, with a text of at most 200 characters'
        WHEN (jsonb_typeof(p_document -> 'attestation') = 'string' AND length(btrim(p_document ->> 'attestation')) BETWEEN 1 AND 2000) IS NOT TRUE
            THEN 'attestation is a text of 1 to 2000 characters'
        WHEN (jsonb_typeof(p_document -> 'lease') = 'object' AND (p_document -> 'lease') - 'longest_ms' = '{}' AND jsonb_typeof(p_document -> 'lease' -> 'longest_ms') = 'number'
              AND p_document -> 'lease' ->> 'longest_ms' ~ '^[0-9]{1,8}$' AND (p_document -> 'lease' ->> 'longest_ms')::integer BETWEEN 30000 AND 43200000) IS NOT TRUE
            THEN 'lease has longest_ms, 30000 to 43200000'
        WHEN p_document ? 'capture' AND (jsonb_typeof(p_document -> 'capture') = 'object' AND (p_document -> 'capture') - 'alert_percent' = '{}'
              AND coalesce(jsonb_typeof(p_document -> 'capture' -> 'alert_percent'), 'number') = 'number' AND coalesce(p_document -> 'capture' ->> 'alert_percent', '10') ~ '^[0-9]{1,3}$'
              AND coalesce((p_document -> 'capture' ->> 'alert_percent')::integer, 10) BETWEEN 0 AND 100) IS NOT TRUE
            THEN 'capture has alert_percent, 0 to 100'
        ELSE countersign.review_fault(p_document -> 'review')
        END;
    IF v_wrong IS NOT NULL THEN
        RAISE EXCEPTION 'the policy was not set: %', v_wrong USING ERRCODE = 'invalid_parameter_value';
    END IF;
    LOCK TABLE countersign.policy_version IN SHARE ROW EXCLUSIVE MODE;
    SELECT max(p.version) + 1 INTO v_version FROM countersign.policy_version p;
    INSERT INTO countersign.policy_version (version, document, comment) VALUES (v_version, p_document, p_comment);
    PERFORM countersign.audit_installation('POLICY_SET', NULL, NULL, NULL,
        jsonb_build_object('version', v_version, 'document', p_document, 'comment', p_comment));
    RETURN v_version;
END $$;

-- Access ---------------------------------------------------------------------------------------------------------------------------

CREATE VIEW countersign.vendors AS SELECT * FROM countersign.vendor;
CREATE VIEW countersign.releases AS SELECT * FROM countersign.released;
CREATE VIEW countersign.claim_loads AS SELECT * FROM countersign.claim_load;
CREATE VIEW countersign.claim_lines AS
    SELECT l.idempotency_key, k.line, k.item, k.units, k.tier_rate, k.amount FROM countersign.claim_load l JOIN countersign.claim_line k ON k.load = l.id;

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA countersign FROM PUBLIC;
REVOKE ALL ON ALL TABLES IN SCHEMA countersign FROM PUBLIC;
REVOKE ALL ON ALL SEQUENCES IN SCHEMA countersign FROM PUBLIC;
GRANT EXECUTE ON FUNCTION countersign.enqueue TO countersign_producer, countersign_supervisor;
GRANT EXECUTE ON FUNCTION countersign.claim_lines_there, countersign.claim_lines_add, countersign.claim_lines_seal TO countersign_producer;
GRANT EXECUTE ON FUNCTION countersign.capture TO countersign_reviewer;
GRANT EXECUTE ON FUNCTION countersign.vendor_set, countersign.vendor_disable TO countersign_supervisor;
GRANT EXECUTE ON FUNCTION countersign.capture_days TO countersign_supervisor, countersign_auditor;
GRANT SELECT ON countersign.vendors, countersign.releases, countersign.claim_loads, countersign.claim_lines TO countersign_supervisor, countersign_auditor;

RESET ROLE;
