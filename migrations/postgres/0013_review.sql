-- What the review screen is told: when an exception is due, what is material, when a period closes, how a receipt looks.

SET LOCAL ROLE countersign_owner;

-- due_on: when it has to be decided: what the arrival says, or the policy in force when it arrived.
ALTER TABLE countersign.exception ADD due_on date, ADD counterparty text NOT NULL DEFAULT '';

CREATE FUNCTION countersign.due_days(document jsonb, tier text) RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN coalesce((document -> 'review' -> 'due_days' ->> tier)::integer, CASE tier WHEN 'escalated' THEN 3 WHEN 'priority' THEN 10 ELSE 30 END);

UPDATE countersign.exception e SET
    counterparty = coalesce(c.body::jsonb ->> 'counterparty', ''), due_on = e.business_date + countersign.due_days('{}', e.routing_tier)
FROM countersign.exception_content c WHERE c.exception_id = e.id AND c.version = e.version;

-- closes_at: by when it is meant to close. It is shown and decides nothing.
ALTER TABLE countersign.period ADD closes_at timestamptz CHECK (closes_at BETWEEN '1970-01-01Z' AND '9999-12-31Z');

-- Receipts as they were scanned. An arrival's payload names them in `image`; the page is what the OCR's boxes count in.
CREATE TABLE countersign.picture (
    name         text        PRIMARY KEY CHECK (length(name) BETWEEN 1 AND 200),
    media_type   text        NOT NULL CHECK (media_type IN ('image/jpeg', 'image/png')),
    bytes        bytea       NOT NULL CHECK (length(bytes) BETWEEN 1 AND 4000000),
    sha256       bytea       NOT NULL,
    page_width   integer     NOT NULL CHECK (page_width BETWEEN 1 AND 100000),
    page_height  integer     NOT NULL CHECK (page_height BETWEEN 1 AND 100000),
    added_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
    added_by     text        NOT NULL DEFAULT session_user
);
ALTER TABLE countersign.picture ALTER bytes SET STORAGE EXTERNAL;
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON countersign.picture EXECUTE FUNCTION countersign.append_only();

-- Takes a picture in; false if this very picture is there already. What reviewers were shown under a name stays under it.
CREATE FUNCTION countersign.picture_add(p_name text, p_bytes bytea, p_page_width integer, p_page_height integer) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_known countersign.picture;
    v_type text := CASE WHEN substring(p_bytes FOR 3) = '\xffd8ff' THEN 'image/jpeg' WHEN substring(p_bytes FOR 8) = '\x89504e470d0a1a0a' THEN 'image/png' END;
BEGIN
    PERFORM countersign.read_committed();
    IF (length(p_name) BETWEEN 1 AND 200 AND p_name !~ '[\u0001-\u001F\u007F-\u009F/\\]' AND btrim(p_name) = p_name) IS NOT TRUE THEN
        RAISE EXCEPTION 'a picture has a name of 1 to 200 characters, without slashes and control characters' USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF (length(p_bytes) <= 4000000) IS NOT TRUE THEN
        RAISE EXCEPTION 'the picture % has % bytes, at most 4000000 are allowed', p_name, length(p_bytes) USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF v_type IS NULL THEN
        RAISE EXCEPTION 'the picture % is neither JPEG nor PNG', p_name USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF (p_page_width BETWEEN 1 AND 100000 AND p_page_height BETWEEN 1 AND 100000) IS NOT TRUE THEN
        RAISE EXCEPTION 'the page of the picture % is 1 to 100000 pixels wide and high, not % x %', p_name, p_page_width, p_page_height
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    INSERT INTO countersign.picture (name, media_type, bytes, sha256, page_width, page_height)
    VALUES (p_name, v_type, p_bytes, sha256(p_bytes), p_page_width, p_page_height) ON CONFLICT DO NOTHING;
    IF FOUND THEN
        PERFORM countersign.audit_installation('PICTURE_ADDED', NULL, NULL, NULL, jsonb_build_object('name', p_name, 'sha256', encode(sha256(p_bytes), 'hex'),
            'page_width', p_page_width, 'page_height', p_page_height));
        RETURN true;
    END IF;
    SELECT * INTO STRICT v_known FROM countersign.picture p WHERE p.name = p_name;
    IF (v_known.sha256, v_known.page_width, v_known.page_height) IS DISTINCT FROM (sha256(p_bytes), p_page_width, p_page_height) THEN
        RAISE EXCEPTION 'another picture, or another page, is known as %', p_name USING ERRCODE = 'invalid_parameter_value',
            HINT = 'A picture that reviewers may have seen is never replaced: give the new one a name of its own.';
    END IF;
    RETURN false;
END $$;

-- What is wrong with the part of a policy that helps reviewers to look; NULL if nothing is. An absent field has its default.
CREATE FUNCTION countersign.review_fault(review jsonb) RETURNS text LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN CASE
        WHEN review IS NULL THEN NULL
        WHEN (jsonb_typeof(review) = 'object' AND review - ARRAY['materiality', 'type_total_from', 'due_days', 'limit_near_percent'] = '{}') IS NOT TRUE
            THEN 'review has materiality, type_total_from, due_days and limit_near_percent'
        WHEN EXISTS (
            SELECT 1 FROM unnest(ARRAY['materiality', 'type_total_from']) AS f WHERE review ? f AND (
                jsonb_typeof(review -> f) <> 'array' OR jsonb_array_length(review -> f) > 100
                OR EXISTS (SELECT 1 FROM jsonb_array_elements(review -> f) AS a WHERE (
                       jsonb_typeof(a) = 'object' AND a - ARRAY['currency', 'amount'] = '{}' AND a ->> 'currency' ~ '^([A-Z]{3}|[*])$'
                       AND jsonb_typeof(a -> 'amount') = 'string' AND a ->> 'amount' ~ '^[0-9]{1,20}([.][0-9]{1,8})?$') IS NOT TRUE)
                OR (SELECT count(*) <> count(DISTINCT a ->> 'currency') FROM jsonb_array_elements(review -> f) AS a)))
            THEN 'materiality and type_total_from are lists of at most 100 currencies, each once, with an amount as a decimal in a string'
        WHEN review ? 'due_days' AND (jsonb_typeof(review -> 'due_days') = 'object' AND (review -> 'due_days') - ARRAY['standard', 'priority', 'escalated'] = '{}'
                AND NOT EXISTS (SELECT 1 FROM unnest(ARRAY['standard', 'priority', 'escalated']) AS t
                                WHERE (jsonb_typeof(review -> 'due_days' -> t) = 'number' AND review -> 'due_days' ->> t ~ '^[0-9]{1,4}$'
                                       AND (review -> 'due_days' ->> t)::integer <= 3650) IS NOT TRUE)) IS NOT TRUE
            THEN 'due_days has standard, priority and escalated, each 0 to 3650'
        WHEN review ? 'limit_near_percent' AND (jsonb_typeof(review -> 'limit_near_percent') = 'number' AND review ->> 'limit_near_percent' ~ '^[0-9]{1,3}$'
                AND (review ->> 'limit_near_percent')::integer BETWEEN 1 AND 100) IS NOT TRUE
            THEN 'limit_near_percent is 1 to 100'
        END;
END $$;

-- Puts a policy in force from now on. It is checked here too, because `sign_off` reads it.
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
        WHEN (SELECT count(*) FROM jsonb_object_keys(p_document) AS k WHERE k NOT IN ('four_eyes', 'scoring', 'reason_codes', 'attestation', 'lease', 'review')) > 0
            OR (p_document ?& ARRAY['four_eyes', 'scoring', 'reason_codes', 'attestation', 'lease']) IS NOT TRUE
            THEN 'it has exactly four_eyes, scoring, reason_codes, attestation and lease, and perhaps review'
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

-- What a workstation keeps to foresee the answers while it is offline: the policy in force, this reviewer's rights and what they
-- have used of them, and the periods that are not open.
CREATE OR REPLACE FUNCTION countersign.snapshot_of(p_login text) RETURNS jsonb LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT jsonb_build_object(
        'at', to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
        'policy_version', (countersign.policy()).version,
        'policy', (countersign.policy()).document,
        'names', countersign.names_of(r.login), 'kinds', r.kinds, 'tiers', r.tiers, 'ledger_entities', r.ledger_entities,
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

CREATE FUNCTION countersign.deadline_given(p_closes_at timestamptz) RETURNS void LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF (p_closes_at BETWEEN '1970-01-01Z' AND '9999-12-31Z') IS FALSE THEN
        RAISE EXCEPTION 'a period closes at an instant of the years 1970 to 9999, not %', p_closes_at USING ERRCODE = 'invalid_parameter_value';
    END IF;
END $$;

DROP FUNCTION countersign.period_add(text, text, date, date);
CREATE FUNCTION countersign.period_add(p_ledger_entity text, p_name text, p_first_day date, p_last_day date, p_closes_at timestamptz DEFAULT NULL) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_other text;
BEGIN
    PERFORM countersign.read_committed();
    IF (length(p_ledger_entity) BETWEEN 1 AND 200 AND length(p_name) BETWEEN 1 AND 50 AND p_first_day <= p_last_day
        AND p_first_day >= '1970-01-01' AND p_last_day <= '9999-12-31') IS NOT TRUE THEN
        RAISE EXCEPTION 'a period has a ledger entity or *, a name of at most 50 characters, and a last day not before its first, in the years 1970 to 9999'
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    PERFORM countersign.deadline_given(p_closes_at);
    LOCK TABLE countersign.period IN SHARE ROW EXCLUSIVE MODE;
    SELECT p.name INTO v_other FROM countersign.period p
    WHERE p.ledger_entity = p_ledger_entity AND (p.name = p_name OR (p.first_day <= p_last_day AND p.last_day >= p_first_day));
    IF FOUND THEN
        RAISE EXCEPTION 'the period % of % is there already, or shares days with it', v_other, p_ledger_entity USING ERRCODE = 'invalid_parameter_value';
    END IF;
    -- A day that is closed for all is opened again with a reason, and not by a new period above it.
    SELECT p.name INTO v_other FROM countersign.period p
    WHERE p.ledger_entity = '*' AND p.state = 'closed' AND p.first_day <= p_last_day AND p.last_day >= p_first_day;
    IF FOUND THEN
        RAISE EXCEPTION 'the period % of * is closed, and shares days with it', v_other USING ERRCODE = 'invalid_parameter_value',
            HINT = 'Reopen it first, and close it again afterwards.';
    END IF;
    INSERT INTO countersign.period (ledger_entity, name, first_day, last_day, closes_at) VALUES (p_ledger_entity, p_name, p_first_day, p_last_day, p_closes_at);
    PERFORM countersign.audit_installation('PERIOD_ADDED', NULL, NULL, NULL, jsonb_build_object('ledger_entity', p_ledger_entity, 'name', p_name,
        'first_day', p_first_day, 'last_day', p_last_day, 'closes_at', p_closes_at));
END $$;

-- Says by when a period is meant to close; NULL takes the deadline away. Returns the one before.
CREATE FUNCTION countersign.period_deadline(p_ledger_entity text, p_name text, p_closes_at timestamptz, p_reason text) RETURNS timestamptz
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_period countersign.period;
BEGIN
    PERFORM countersign.read_committed();
    PERFORM countersign.reason_given(p_reason);
    PERFORM countersign.deadline_given(p_closes_at);
    SELECT * INTO v_period FROM countersign.period p WHERE p.ledger_entity = p_ledger_entity AND p.name = p_name FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'there is no period % of %', p_name, p_ledger_entity USING ERRCODE = 'invalid_parameter_value', HINT = 'countersign-admin period list shows them.';
    END IF;
    UPDATE countersign.period p SET closes_at = p_closes_at WHERE p.ledger_entity = p_ledger_entity AND p.name = p_name;
    PERFORM countersign.audit_installation('PERIOD_DEADLINE', NULL, NULL, NULL, jsonb_build_object('ledger_entity', p_ledger_entity, 'name', p_name,
        'from', v_period.closes_at, 'to', p_closes_at, 'reason', p_reason));
    RETURN v_period.closes_at;
END $$;

RESET ROLE;
