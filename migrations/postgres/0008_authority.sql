-- Who may sign what: reviewers and their limits, policy, periods, workstations and their keys.

SET LOCAL ROLE countersign_owner;

-- A name as it is compared: compatibility forms are one (NFKC), marks that cannot be seen and blanks at the ends are gone, and case
-- does not count, in both directions (a sigma at the end of a word is one in the middle). Letters that only look alike stay different.
CREATE FUNCTION countersign.folded(name text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN lower(upper(btrim(regexp_replace(normalize(name, NFKC), '[\u00AD\u200B-\u200F\u2028-\u202E\u2060-\u2069\uFEFF\u0001-\u001F\u007F-\u009F]', '', 'g'))));

CREATE FUNCTION countersign.folded_all(names text[]) RETURNS text[] LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN ARRAY(SELECT DISTINCT countersign.folded(x) FROM unnest(names) AS x ORDER BY 1);
END $$;

-- What a reviewer may sign. NULL means everything of its kind.
--   also: under which other names upstream systems know this person. Names are compared without regard to case.
ALTER TABLE countersign.reviewer
    ADD also text[] NOT NULL DEFAULT '{}',
    ADD names text[] NOT NULL GENERATED ALWAYS AS (countersign.folded_all(also || login)) STORED,
    ADD kinds text[] CHECK (kinds <@ ARRAY['recon_break', 'sales_claim', 'receipt']),
    ADD tiers text[] CHECK (tiers <@ ARRAY['standard', 'priority', 'escalated']),
    ADD ledger_entities text[];

-- Amounts are absolute variances in the currency's own units. The currency `*` stands for every one without a row of its own.
--   largest:     the most one exception may have for this reviewer to sign it, whatever they decide;
--   per_period:  the most this reviewer may approve in one close period, all exceptions together.
CREATE TABLE countersign.reviewer_limit (
    reviewer    text     NOT NULL REFERENCES countersign.reviewer,
    currency    text     NOT NULL CHECK (currency = '*' OR currency ~ '^[A-Z]{3}$'),
    largest     numeric  CHECK (largest >= 0 AND largest < 'infinity'),
    per_period  numeric  CHECK (per_period >= 0 AND per_period < 'infinity'),
    PRIMARY KEY (reviewer, currency)
);

-- What counts against `per_period`: approvals that were accepted and did not lapse.
CREATE TABLE countersign.reviewer_usage (
    reviewer  text     NOT NULL,
    period    text     NOT NULL,
    currency  text     NOT NULL,
    approved  numeric  NOT NULL CHECK (approved >= 0),
    PRIMARY KEY (reviewer, period, currency)
) WITH (fillfactor = 50);

-- The close calendar. The entity `*` is the calendar of every ledger entity that has no period of its own for a day. A day that no
-- calendar covers belongs to the open period of its month, such as 2026-10.
CREATE TABLE countersign.period (
    ledger_entity  text        NOT NULL CHECK (ledger_entity <> ''),
    name           text        NOT NULL CHECK (name <> ''),
    first_day      date        NOT NULL,
    last_day       date        NOT NULL,
    state          text        NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'closing', 'closed')),
    changed_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
    changed_by     text        NOT NULL DEFAULT session_user,
    PRIMARY KEY (ledger_entity, name),
    CHECK (first_day <= last_day)
);

CREATE TABLE countersign.policy_version (
    version   integer     PRIMARY KEY,
    document  jsonb       NOT NULL,
    set_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
    set_by    text        NOT NULL DEFAULT session_user,
    comment   text        NOT NULL
);
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON countersign.policy_version EXECUTE FUNCTION countersign.append_only();
INSERT INTO countersign.policy_version (version, document, comment) VALUES (1, '{
    "four_eyes": [],
    "scoring": {"escalate_above": "50000", "tolerance": "5"},
    "reason_codes": [
        {"code": "MISSING_EVIDENCE", "text": "Evidence is missing"},
        {"code": "WRONG_AMOUNT", "text": "The amount is wrong"},
        {"code": "WRONG_COUNTERPARTY", "text": "The counterparty is wrong"},
        {"code": "DUPLICATE_RECORD", "text": "Recorded twice upstream"},
        {"code": "WRONG_PERIOD", "text": "Belongs to another period"},
        {"code": "OTHER", "text": "Something else, see the comment"}
    ],
    "attestation": "I have examined these exceptions and their evidence, and I decide as stated.",
    "lease": {"longest_ms": 43200000}
}', 'as installed');

ALTER TABLE countersign.workstation ADD revoked_at timestamptz, ADD revoked_by text, ADD revoked_because text;

-- The keys of a workstation: the public part of its Ed25519 key, and a secret agreed with it whose two padded blocks only the
-- owner's functions read. A decision is good under a key that a supervisor confirmed.
CREATE TABLE countersign.workstation_key (
    workstation   uuid        NOT NULL REFERENCES countersign.workstation,
    enrolment     integer     NOT NULL,
    public_key    bytea       NOT NULL CHECK (length(public_key) = 32),
    inner_pad     bytea       NOT NULL,
    outer_pad     bytea       NOT NULL,
    requested_at  timestamptz NOT NULL,
    confirmed_at  timestamptz,
    confirmed_by  text,
    PRIMARY KEY (workstation, enrolment)
);

-- Every name of the person behind a login, folded. Whoever shares a name with somebody is that person: two logins of one person
-- name each other in `also`, or the same name upstream.
CREATE FUNCTION countersign.names_of(p_login text) RETURNS text[] LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_names text[] := ARRAY[countersign.folded(p_login)];
    v_more text[];
BEGIN
    FOR step IN 1 .. 100 LOOP
        v_more := ARRAY(SELECT unnest(v_names) UNION SELECT unnest(r.names) FROM countersign.reviewer r WHERE r.names && v_names ORDER BY 1);
        EXIT WHEN cardinality(v_more) = cardinality(v_names);
        v_names := v_more;
    END LOOP;
    RETURN v_names;
END $$;

-- Every login of the person behind a login, in their order.
CREATE FUNCTION countersign.logins_of(p_login text) RETURNS text[] LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_names text[] := countersign.names_of(p_login);
BEGIN
    RETURN (SELECT coalesce(array_agg(r.login ORDER BY r.login), ARRAY[p_login]) FROM countersign.reviewer r WHERE r.names && v_names);
END $$;

-- What one reviewer may sign, as a value. `largest` maps currencies to amounts.
CREATE TYPE countersign.authority AS (login text, names text[], kinds text[], tiers text[], ledger_entities text[], largest jsonb);

CREATE FUNCTION countersign.authority_of(p_login text) RETURNS countersign.authority LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN (SELECT ROW(r.login, countersign.names_of(r.login), r.kinds, r.tiers, r.ledger_entities, coalesce((
               SELECT jsonb_object_agg(l.currency, l.largest::text) FROM countersign.reviewer_limit l
               WHERE l.reviewer = r.login AND l.largest IS NOT NULL), '{}'))::countersign.authority
    FROM countersign.reviewer r WHERE r.login = p_login);
END $$;

CREATE FUNCTION countersign.policy() RETURNS countersign.policy_version LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_policy countersign.policy_version;
BEGIN
    SELECT * INTO STRICT v_policy FROM countersign.policy_version p ORDER BY p.version DESC LIMIT 1;
    RETURN v_policy;
END $$;

-- Who is calling. Fails unless the login is an active reviewer, the workstation is theirs, and a supervisor confirmed its key.
CREATE OR REPLACE FUNCTION countersign.caller(p_workstation uuid) RETURNS text LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM 1 FROM countersign.reviewer r WHERE r.login = session_user AND r.active;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'the login % is not an active reviewer', session_user
            USING ERRCODE = 'CS001', HINT = 'Ask a supervisor to add it: countersign-admin reviewer add.';
    END IF;
    PERFORM 1 FROM countersign.workstation w WHERE w.id = p_workstation AND w.reviewer = session_user;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'the workstation % is not known for the login %', p_workstation, session_user
            USING ERRCODE = 'CS002', HINT = 'Connect again, so that the workstation says who it is.';
    END IF;
    PERFORM 1 FROM countersign.workstation_key k WHERE k.workstation = p_workstation AND k.confirmed_at IS NOT NULL;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'the key of the workstation % was not confirmed yet', p_workstation
            USING ERRCODE = 'CS003', HINT = 'Ask a supervisor to confirm it: countersign-admin workstation confirm.';
    END IF;
    RETURN session_user;
END $$;

-- Whether a call comes in the name of somebody else's workstation, or of one that was revoked. It is recorded, and therefore not
-- raised: an error would take its record back. Whoever is turned away gets an answer without content.
CREATE FUNCTION countersign.turned_away(p_workstation uuid, p_call text) RETURNS boolean LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_known countersign.workstation;
BEGIN
    SELECT * INTO v_known FROM countersign.workstation w WHERE w.id = p_workstation;
    IF NOT FOUND OR (v_known.reviewer = session_user AND v_known.revoked_at IS NULL) THEN
        RETURN false;
    END IF;
    PERFORM countersign.audit_installation('TURNED_AWAY', p_workstation, NULL, CASE WHEN v_known.revoked_at IS NULL THEN 'NOT_THEIRS' ELSE 'REVOKED' END,
        jsonb_build_object('call', p_call, 'of', v_known.reviewer));
    RETURN true;
END $$;

-- What a workstation keeps to foresee the answers while it is offline: the policy in force, this reviewer's rights and what they
-- have used of them, and the periods that are not open.
CREATE FUNCTION countersign.snapshot_of(p_login text) RETURNS jsonb LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
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
                                                                 'last_day', p.last_day, 'state', p.state) ORDER BY p.ledger_entity, p.first_day)
                             FROM (SELECT p.* FROM countersign.period p ORDER BY p.last_day DESC LIMIT 5000) AS p), '[]'))
    FROM countersign.reviewer r WHERE r.login = p_login
$$;

-- A workstation says who it is and which settings it works with, and learns where it is, how its enrolment stands and what is in
-- force.
DROP FUNCTION countersign.hello(uuid, text, text, jsonb);
CREATE FUNCTION countersign.hello(p_workstation uuid, p_name text, p_app_version text, p_settings jsonb)
RETURNS TABLE (installation uuid, reviewer text, display_name text, server_now timestamptz, enrolment integer, public_key bytea,
               confirmed boolean, snapshot jsonb)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_now timestamptz := clock_timestamp();
    v_display_name text;
    v_known countersign.workstation;
    v_last countersign.setting_version;
    v_key countersign.workstation_key;
BEGIN
    PERFORM countersign.read_committed();
    SELECT r.display_name INTO v_display_name FROM countersign.reviewer r WHERE r.login = session_user AND r.active;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'the login % is not an active reviewer', session_user
            USING ERRCODE = 'CS001', HINT = 'Ask a supervisor to add it: countersign-admin reviewer add.';
    END IF;
    IF (p_workstation IS NOT NULL AND length(p_name) <= 200 AND length(p_app_version) <= 50 AND length(p_settings::text) <= 10000) IS NOT TRUE THEN
        RAISE EXCEPTION 'hello: a workstation has an id, a name of at most 200 characters, a version of at most 50 and settings of at most 10000'
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    -- Nobody locks a workstation that is not theirs.
    IF EXISTS (SELECT 1 FROM countersign.workstation w WHERE w.id = p_workstation AND w.reviewer <> session_user) THEN
        PERFORM countersign.turned_away(p_workstation, 'hello');
        RETURN;
    END IF;
    -- Not FOR UPDATE, which would wait for a call of this workstation that lost its line and still waits itself.
    SELECT * INTO v_known FROM countersign.workstation w WHERE w.id = p_workstation FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        IF (SELECT count(*) FROM countersign.workstation w WHERE w.reviewer = session_user) >= 100 THEN
            RAISE EXCEPTION 'the login % has 100 workstations already', session_user USING ERRCODE = 'program_limit_exceeded';
        END IF;
        INSERT INTO countersign.workstation (id, reviewer, name, app_version, first_seen, last_seen)
        VALUES (p_workstation, session_user, p_name, p_app_version, v_now, v_now);
        PERFORM countersign.audit_installation('WORKSTATION_SEEN', p_workstation, NULL, NULL,
            jsonb_build_object('name', p_name, 'app_version', p_app_version));
    ELSIF v_known.revoked_at IS NOT NULL THEN
        RAISE EXCEPTION 'the workstation % was revoked: %', p_workstation, v_known.revoked_because USING ERRCODE = 'CS004', HINT = 'Ask a supervisor.';
    ELSE
        UPDATE countersign.workstation w SET name = p_name, app_version = p_app_version, last_seen = v_now WHERE w.id = p_workstation;
        IF v_known.last_seen < v_now - interval '15 minutes' THEN
            PERFORM countersign.audit_installation('WORKSTATION_SEEN', p_workstation, NULL, NULL,
                jsonb_build_object('name', p_name, 'app_version', p_app_version));
        END IF;
    END IF;
    SELECT * INTO v_last FROM countersign.setting_version s WHERE s.workstation = p_workstation ORDER BY s.version DESC LIMIT 1;
    IF v_last.settings IS DISTINCT FROM p_settings THEN
        INSERT INTO countersign.setting_version (workstation, version, settings, since)
        VALUES (p_workstation, coalesce(v_last.version, 0) + 1, p_settings, v_now);
        PERFORM countersign.audit_installation('SETTINGS_CHANGED', p_workstation, NULL, NULL,
            jsonb_build_object('version', coalesce(v_last.version, 0) + 1, 'settings', p_settings));
    END IF;
    SELECT * INTO v_key FROM countersign.workstation_key k WHERE k.workstation = p_workstation ORDER BY k.enrolment DESC LIMIT 1;
    RETURN QUERY SELECT i.id, session_user::text, v_display_name, v_now, v_key.enrolment, v_key.public_key,
                        v_key.confirmed_at IS NOT NULL, countersign.snapshot_of(session_user)
    FROM countersign.installation i;
END $$;

-- Takes a workstation's public key and agrees on a secret with it. The secret is in the answer alone, which no server logs. Until a
-- supervisor confirms, the workstation can do nothing with either; asking again takes the place of what was not confirmed.
CREATE FUNCTION countersign.enrol(p_workstation uuid, p_public_key bytea) RETURNS TABLE (enrolment integer, secret bytea)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_secret bytea := countersign.random_key();
    v_number integer;
BEGIN
    PERFORM countersign.read_committed();
    IF (length(p_public_key) = 32) IS NOT TRUE THEN
        RAISE EXCEPTION 'enrol: a public key has 32 bytes' USING ERRCODE = 'invalid_parameter_value';
    END IF;
    PERFORM 1 FROM countersign.reviewer r WHERE r.login = session_user AND r.active;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'the login % is not an active reviewer', session_user USING ERRCODE = 'CS001', HINT = 'Ask a supervisor to add it.';
    END IF;
    IF countersign.turned_away(p_workstation, 'enrol') THEN
        RETURN;
    END IF;
    PERFORM 1 FROM countersign.workstation w WHERE w.id = p_workstation AND w.reviewer = session_user AND w.revoked_at IS NULL FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'the workstation % is not known for the login %', p_workstation, session_user
            USING ERRCODE = 'CS002', HINT = 'Connect again, so that the workstation says who it is.';
    END IF;
    DELETE FROM countersign.workstation_key k WHERE k.workstation = p_workstation AND k.confirmed_at IS NULL;
    SELECT coalesce(max(k.enrolment), 0) + 1 INTO v_number FROM countersign.workstation_key k WHERE k.workstation = p_workstation;
    IF v_number > 20 THEN
        RAISE EXCEPTION 'the workstation % was enrolled 20 times', p_workstation USING ERRCODE = 'program_limit_exceeded';
    END IF;
    INSERT INTO countersign.workstation_key (workstation, enrolment, public_key, inner_pad, outer_pad, requested_at)
    VALUES (p_workstation, v_number, p_public_key, countersign.hmac_pad(v_secret, 54), countersign.hmac_pad(v_secret, 92), clock_timestamp());
    PERFORM countersign.audit_installation('ENROLMENT_REQUESTED', p_workstation, NULL, NULL,
        jsonb_build_object('enrolment', v_number, 'public_key', encode(p_public_key, 'hex')));
    RETURN QUERY SELECT v_number, v_secret;
END $$;

-- What supervisors do. Nobody does it to themselves.

CREATE FUNCTION countersign.not_oneself(p_login text, p_what text) RETURNS void LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF countersign.names_of(session_user) && countersign.names_of(p_login) THEN
        RAISE EXCEPTION '% cannot % for themselves', session_user, p_what USING ERRCODE = 'CS005', HINT = 'Another supervisor has to do it.';
    END IF;
END $$;

CREATE FUNCTION countersign.reason_given(p_reason text) RETURNS void LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF (length(btrim(p_reason)) >= 1 AND length(p_reason) <= 500) IS NOT TRUE THEN
        RAISE EXCEPTION 'a reason of 1 to 500 characters is expected' USING ERRCODE = 'invalid_parameter_value';
    END IF;
END $$;

-- Whom nothing was found for before may be found something now; NULL is everybody, because a name links several logins. Partitions
-- are locked in the order of their keys, and before the installation's chain, as signing does.
CREATE FUNCTION countersign.look_again(p_login text) RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM 1 FROM countersign.partition p WHERE p.passed_by <> '{}' AND (p_login IS NULL OR p_login = ANY (p.passed_by))
    ORDER BY p.partition_key FOR NO KEY UPDATE;
    UPDATE countersign.partition p SET passed_by = CASE WHEN p_login IS NULL THEN '{}' ELSE array_remove(p.passed_by, p_login) END
    WHERE p.passed_by <> '{}' AND (p_login IS NULL OR p_login = ANY (p.passed_by));
END $$;

-- Whether an array, if there is one, is a plain list of texts: one dimension, no NULL, nothing empty or with blanks at its ends.
CREATE FUNCTION countersign.is_list(p_list text[]) RETURNS boolean LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN p_list IS NULL OR (coalesce(array_ndims(p_list), 1) = 1 AND NOT EXISTS (
        SELECT 1 FROM unnest(p_list) AS x WHERE (length(x) BETWEEN 1 AND 200 AND btrim(x) = x AND countersign.folded(x) <> '') IS NOT TRUE));
END $$;

-- Adds a reviewer, or changes what they may sign. `p_display_name` NULL keeps the name there is.
CREATE FUNCTION countersign.reviewer_set(
    p_login text, p_display_name text, p_also text[], p_kinds text[], p_tiers text[], p_ledger_entities text[]
) RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_other text;
    v_fresh boolean;
BEGIN
    PERFORM countersign.read_committed();
    PERFORM countersign.not_oneself(p_login, 'set what they may sign');
    IF (length(btrim(p_login)) BETWEEN 1 AND 63 AND octet_length(p_login) <= 63 AND length(coalesce(p_display_name, 'x')) BETWEEN 1 AND 200
        AND cardinality(coalesce(p_also, '{}')) <= 20 AND cardinality(coalesce(p_ledger_entities, '{}')) <= 1000
        AND countersign.is_list(p_also) AND countersign.is_list(p_kinds) AND countersign.is_list(p_tiers) AND countersign.is_list(p_ledger_entities)) IS NOT TRUE THEN
        RAISE EXCEPTION 'a reviewer has a login of at most 63 bytes, a name of at most 200 characters, and lists of at most 20 other names and 1000 ledger entities, each of 1 to 200 characters without blanks at its ends'
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    SELECT r.login INTO v_other FROM countersign.reviewer r WHERE countersign.folded(r.login) = countersign.folded(p_login) AND r.login <> p_login;
    IF FOUND THEN
        RAISE EXCEPTION 'the login % reads like that of the reviewer %, and would count as the same person', p_login, v_other
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    INSERT INTO countersign.reviewer AS r (login, display_name, added_by, also, kinds, tiers, ledger_entities)
    VALUES (p_login, coalesce(p_display_name, p_login), session_user, coalesce(p_also, '{}'), p_kinds, p_tiers, p_ledger_entities)
    ON CONFLICT (login) DO UPDATE SET active = true, display_name = coalesce(p_display_name, r.display_name), also = excluded.also,
        kinds = excluded.kinds, tiers = excluded.tiers, ledger_entities = excluded.ledger_entities
    RETURNING r.xmax = 0 INTO v_fresh;
    PERFORM countersign.look_again(NULL);
    PERFORM countersign.audit_installation('REVIEWER_SET', NULL, NULL, NULL, jsonb_build_object('login', p_login, 'display_name', p_display_name,
        'also', p_also, 'kinds', p_kinds, 'tiers', p_tiers, 'ledger_entities', p_ledger_entities));
    RETURN v_fresh;
END $$;

CREATE FUNCTION countersign.reviewer_disable(p_login text) RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_was_active boolean;
    v_keys text[];
BEGIN
    PERFORM countersign.read_committed();
    UPDATE countersign.reviewer r SET active = false WHERE r.login = p_login AND r.active;
    v_was_active := FOUND;
    -- Also of somebody who was disabled before: a call that was under way then may have leased since.
    SELECT array_agg(h.partition_key) INTO v_keys
    FROM (SELECT p.partition_key FROM countersign.partition p WHERE p.holder_reviewer = p_login AND p.lease_until IS NOT NULL
          ORDER BY p.partition_key FOR NO KEY UPDATE) AS h;
    IF v_keys IS NOT NULL THEN
        PERFORM countersign.free_partitions(v_keys, 'RELEASED');
    END IF;
    IF v_was_active THEN
        PERFORM countersign.audit_installation('REVIEWER_DISABLED', NULL, NULL, NULL, jsonb_build_object('login', p_login));
    END IF;
    RETURN v_was_active;
END $$;

-- Both amounts NULL: no limit in this currency any more.
CREATE FUNCTION countersign.reviewer_limit_set(p_login text, p_currency text, p_largest numeric, p_per_period numeric) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM countersign.read_committed();
    PERFORM countersign.not_oneself(p_login, 'set limits');
    PERFORM 1 FROM countersign.reviewer r WHERE r.login = p_login;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'there is no reviewer %', p_login USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF (p_currency = '*' OR p_currency ~ '^[A-Z]{3}$') IS NOT TRUE OR (p_largest >= 0 AND p_largest < 'infinity') IS FALSE
       OR (p_per_period >= 0 AND p_per_period < 'infinity') IS FALSE THEN
        RAISE EXCEPTION 'a limit has a currency of three capital letters, or *, and amounts that are not negative' USING ERRCODE = 'invalid_parameter_value';
    END IF;
    DELETE FROM countersign.reviewer_limit l WHERE l.reviewer = p_login AND l.currency = p_currency;
    IF p_largest IS NOT NULL OR p_per_period IS NOT NULL THEN
        INSERT INTO countersign.reviewer_limit (reviewer, currency, largest, per_period) VALUES (p_login, p_currency, p_largest, p_per_period);
    END IF;
    PERFORM countersign.look_again(p_login);
    PERFORM countersign.audit_installation('LIMIT_SET', NULL, NULL, NULL, jsonb_build_object('login', p_login, 'currency', p_currency,
        'largest', p_largest::text, 'per_period', p_per_period::text));
END $$;

-- Puts a policy in force from now on. It is checked here too, because `sign_off` reads it.
CREATE FUNCTION countersign.policy_set(p_document jsonb, p_comment text) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_version integer;
    v_wrong text;
BEGIN
    PERFORM countersign.read_committed();
    PERFORM countersign.reason_given(p_comment);
    v_wrong := CASE
        WHEN (jsonb_typeof(p_document) = 'object' AND length(p_document::text) <= 100000) IS NOT TRUE THEN 'it is no object of at most 100000 characters'
        WHEN (SELECT count(*) FROM jsonb_object_keys(p_document) AS k WHERE k NOT IN ('four_eyes', 'scoring', 'reason_codes', 'attestation', 'lease')) > 0
            OR (p_document ?& ARRAY['four_eyes', 'scoring', 'reason_codes', 'attestation', 'lease']) IS NOT TRUE
            THEN 'it has exactly four_eyes, scoring, reason_codes, attestation and lease'
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

CREATE FUNCTION countersign.period_add(p_ledger_entity text, p_name text, p_first_day date, p_last_day date) RETURNS void
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
    INSERT INTO countersign.period (ledger_entity, name, first_day, last_day) VALUES (p_ledger_entity, p_name, p_first_day, p_last_day);
    PERFORM countersign.audit_installation('PERIOD_ADDED', NULL, NULL, NULL, jsonb_build_object('ledger_entity', p_ledger_entity, 'name', p_name,
        'first_day', p_first_day, 'last_day', p_last_day));
END $$;

-- Opens, begins to close, closes or reopens a period. It cannot be closed while decisions in it wait for their effect. Returns how
-- many of its exceptions are undecided: once it is closed, nobody can sign them.
CREATE FUNCTION countersign.period_move(p_ledger_entity text, p_name text, p_state text, p_reason text) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_period countersign.period;
    v_undecided bigint;
    v_held bigint;
BEGIN
    PERFORM countersign.read_committed();
    PERFORM countersign.reason_given(p_reason);
    -- Signing takes the same row FOR SHARE: what is being signed in this period is signed before it closes, or refused after.
    SELECT * INTO v_period FROM countersign.period p WHERE p.ledger_entity = p_ledger_entity AND p.name = p_name FOR UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'there is no period % of %', p_name, p_ledger_entity USING ERRCODE = 'invalid_parameter_value', HINT = 'countersign-admin period list shows them.';
    END IF;
    IF (p_state IN ('open', 'closing', 'closed') AND p_state <> v_period.state) IS NOT TRUE THEN
        RAISE EXCEPTION 'the period % of % is %; it can become one of the other two of open, closing and closed', p_name, p_ledger_entity, v_period.state
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    SELECT count(*) FILTER (WHERE e.state = 'PENDING'), count(*) FILTER (WHERE e.state <> 'PENDING') INTO v_undecided, v_held
    FROM countersign.exception e
    WHERE e.state <> 'RESOLVED' AND e.business_date BETWEEN v_period.first_day AND v_period.last_day
      AND (e.ledger_entity = p_ledger_entity OR (p_ledger_entity = '*' AND NOT EXISTS (
               SELECT 1 FROM countersign.period o WHERE o.ledger_entity = e.ledger_entity AND e.business_date BETWEEN o.first_day AND o.last_day)));
    IF p_state = 'closed' AND v_held > 0 THEN
        RAISE EXCEPTION 'the period % of % has % decisions whose effect waits for an earlier exception', p_name, p_ledger_entity, v_held
            USING ERRCODE = 'object_not_in_prerequisite_state', HINT = 'Have the earlier exceptions of their partitions decided first.';
    END IF;
    UPDATE countersign.period p SET state = p_state, changed_at = clock_timestamp(), changed_by = session_user
    WHERE p.ledger_entity = p_ledger_entity AND p.name = p_name;
    PERFORM countersign.audit_installation(CASE WHEN v_period.state = 'closed' THEN 'PERIOD_REOPENED' ELSE 'PERIOD_MOVED' END, NULL, NULL, NULL,
        jsonb_build_object('ledger_entity', p_ledger_entity, 'name', p_name, 'from', v_period.state, 'to', p_state, 'reason', p_reason, 'undecided', v_undecided));
    RETURN v_undecided;
END $$;

-- The fingerprint is what the reviewer's screen shows: the first 16 hex digits of the SHA-256 of the public key. It proves that the
-- supervisor confirms the key of that screen and no other.
CREATE FUNCTION countersign.workstation_confirm(p_workstation uuid, p_fingerprint text) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_reviewer text;
    v_key countersign.workstation_key;
BEGIN
    PERFORM countersign.read_committed();
    SELECT w.reviewer INTO v_reviewer FROM countersign.workstation w WHERE w.id = p_workstation AND w.revoked_at IS NULL FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'there is no workstation % that could be confirmed', p_workstation USING ERRCODE = 'invalid_parameter_value',
            HINT = 'countersign-admin workstation list shows them.';
    END IF;
    PERFORM countersign.not_oneself(v_reviewer, 'confirm a workstation');
    SELECT * INTO v_key FROM countersign.workstation_key k WHERE k.workstation = p_workstation ORDER BY k.enrolment DESC LIMIT 1;
    IF v_key.enrolment IS NULL OR v_key.confirmed_at IS NOT NULL THEN
        RAISE EXCEPTION 'the workstation % asks for nothing: its key is %', p_workstation, CASE WHEN v_key.enrolment IS NULL THEN 'missing' ELSE 'confirmed' END
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF left(encode(sha256(v_key.public_key), 'hex'), 16) IS DISTINCT FROM lower(regexp_replace(p_fingerprint, '[^0-9A-Fa-f]', '', 'g')) THEN
        PERFORM countersign.audit_installation('ENROLMENT_REFUSED', p_workstation, NULL, 'FINGERPRINT', jsonb_build_object('enrolment', v_key.enrolment));
        RETURN NULL;
    END IF;
    UPDATE countersign.workstation_key k SET confirmed_at = clock_timestamp(), confirmed_by = session_user
    WHERE k.workstation = p_workstation AND k.enrolment = v_key.enrolment;
    PERFORM countersign.audit_installation('WORKSTATION_ENROLLED', p_workstation, NULL, NULL,
        jsonb_build_object('enrolment', v_key.enrolment, 'public_key', encode(v_key.public_key, 'hex'), 'reviewer', v_reviewer));
    RETURN v_reviewer;
END $$;

-- Takes effect with the next call. Reviewers can revoke their own workstations, supervisors any. Returns whether it was not before;
-- NULL to whom it is not open.
CREATE FUNCTION countersign.workstation_revoke(p_workstation uuid, p_reason text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_known countersign.workstation;
    v_keys text[];
BEGIN
    PERFORM countersign.read_committed();
    PERFORM countersign.reason_given(p_reason);
    SELECT * INTO v_known FROM countersign.workstation w WHERE w.id = p_workstation FOR UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'there is no workstation %', p_workstation USING ERRCODE = 'invalid_parameter_value',
            HINT = 'countersign-admin workstation list shows them.';
    END IF;
    IF v_known.reviewer <> session_user AND NOT pg_has_role(session_user, 'countersign_supervisor', 'USAGE') THEN
        PERFORM countersign.turned_away(p_workstation, 'workstation_revoke');
        RETURN NULL;
    END IF;
    IF v_known.revoked_at IS NOT NULL THEN
        RETURN false;
    END IF;
    UPDATE countersign.workstation w SET revoked_at = clock_timestamp(), revoked_by = session_user, revoked_because = p_reason WHERE w.id = p_workstation;
    SELECT array_agg(h.partition_key) INTO v_keys
    FROM (SELECT p.partition_key FROM countersign.partition p WHERE p.holder = p_workstation AND p.lease_until IS NOT NULL
          ORDER BY p.partition_key FOR NO KEY UPDATE) AS h;
    IF v_keys IS NOT NULL THEN
        PERFORM countersign.free_partitions(v_keys, 'RELEASED');
    END IF;
    PERFORM countersign.audit_installation('WORKSTATION_REVOKED', p_workstation, NULL, NULL, jsonb_build_object('reviewer', v_known.reviewer, 'reason', p_reason));
    RETURN true;
END $$;

RESET ROLE;
