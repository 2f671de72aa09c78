-- What deciding each kind does, and the figure that a decision carries.

SET LOCAL ROLE countersign_owner;

-- The one place that says what a decision on each kind does; a further kind replaces these four functions in its migration.

CREATE FUNCTION countersign.unknown_kind(kind text) RETURNS text LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RAISE EXCEPTION 'nothing says what deciding an exception of the kind % does', kind USING ERRCODE = 'feature_not_supported';
END $$;

-- POSTING, DISPUTE or ROUTING. Whatever the kind, approving a reversal posts and rejecting one returns it.
CREATE FUNCTION countersign.effect_of(kind text, decision text, reversal boolean) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN reversal THEN CASE decision WHEN 'APPROVE' THEN 'POSTING' ELSE 'ROUTING' END
    WHEN kind = 'recon_break' THEN CASE decision WHEN 'APPROVE' THEN 'POSTING' ELSE 'ROUTING' END
    WHEN kind = 'sales_claim' THEN CASE decision WHEN 'APPROVE' THEN 'POSTING' ELSE 'DISPUTE' END
    WHEN kind = 'receipt' THEN 'ROUTING'
    ELSE countersign.unknown_kind(kind) END;

-- Where a ROUTING goes.
CREATE FUNCTION countersign.routed_to(kind text, decision text, reversal boolean) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN kind = 'receipt' AND NOT reversal THEN CASE decision WHEN 'APPROVE' THEN 'policy validation' ELSE 'submitter' END ELSE 'matching team' END;

-- Which figure an approval carries: ACCRUAL, the one that follows from the content, always; CORRECTED, one that the reviewer may have
-- entered; NULL, none. Only of kinds with a figure is the content read when they are signed.
CREATE FUNCTION countersign.figure_rule(kind text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE kind WHEN 'sales_claim' THEN 'ACCRUAL' WHEN 'receipt' THEN 'CORRECTED' END;

-- How many digits follow the decimal mark (ISO 4217); NULL for what no amount can be in. `domain::money` knows the same.
CREATE FUNCTION countersign.minor_units(currency text) RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN currency IN ('AED', 'AFN', 'ALL', 'AMD', 'AOA', 'ARS', 'AUD', 'AWG', 'AZN', 'BAM', 'BBD', 'BDT', 'BMD', 'BND', 'BOB', 'BOV', 'BRL',
                      'BSD', 'BTN', 'BWP', 'BYN', 'BZD', 'CAD', 'CDF', 'CHE', 'CHF', 'CHW', 'CNY', 'COP', 'COU', 'CRC', 'CUP', 'CVE', 'CZK',
                      'DKK', 'DOP', 'DZD', 'EGP', 'ERN', 'ETB', 'EUR', 'FJD', 'FKP', 'GBP', 'GEL', 'GHS', 'GIP', 'GMD', 'GTQ', 'GYD', 'HKD',
                      'HNL', 'HTG', 'HUF', 'IDR', 'ILS', 'INR', 'IRR', 'JMD', 'KES', 'KGS', 'KHR', 'KPW', 'KYD', 'KZT', 'LAK', 'LBP', 'LKR',
                      'LRD', 'LSL', 'MAD', 'MDL', 'MGA', 'MKD', 'MMK', 'MNT', 'MOP', 'MRU', 'MUR', 'MVR', 'MWK', 'MXN', 'MXV', 'MYR', 'MZN',
                      'NAD', 'NGN', 'NIO', 'NOK', 'NPR', 'NZD', 'PAB', 'PEN', 'PGK', 'PHP', 'PKR', 'PLN', 'QAR', 'RON', 'RSD', 'RUB', 'SAR',
                      'SBD', 'SCR', 'SDG', 'SEK', 'SGD', 'SHP', 'SLE', 'SOS', 'SRD', 'SSP', 'STN', 'SVC', 'SYP', 'SZL', 'THB', 'TJS', 'TMT',
                      'TOP', 'TRY', 'TTD', 'TWD', 'TZS', 'UAH', 'USD', 'USN', 'UYU', 'UZS', 'VED', 'WST', 'XAD', 'XCD', 'XCG', 'YER', 'ZAR',
                      'ZMW', 'ZWG') THEN 2
    WHEN currency IN ('BIF', 'CLP', 'DJF', 'GNF', 'ISK', 'JPY', 'KMF', 'KRW', 'PYG', 'RWF', 'UGX', 'UYI', 'VND', 'VUV', 'XAF', 'XOF', 'XPF') THEN 0
    WHEN currency IN ('BHD', 'IQD', 'JOD', 'KWD', 'LYD', 'OMR', 'TND') THEN 3
    WHEN currency IN ('CLF', 'UYW') THEN 4
END;

-- An amount as it is signed: plain, without zeros in front of it, at most 28 digits.
CREATE FUNCTION countersign.is_figure(amount text) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN amount ~ '^(-?[1-9][0-9]{0,27}|-?0[.]0*[1-9][0-9]{0,27}|-?[1-9][0-9]{0,27}[.][0-9]{1,27}|0([.]0{1,28})?)$'
    AND length(translate(amount, '-.', '')) <= 29;

-- A decimal in a JSON string that the decimal type of the workstations holds exactly, or NULL. `domain::money::parse_decimal` reads the same.
CREATE FUNCTION countersign.exact(value jsonb) RETURNS numeric LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_text text := CASE jsonb_typeof(value) WHEN 'string' THEN value #>> '{}' END;
BEGIN
    IF (v_text ~ '^-?[0-9]+([.][0-9]{1,28})?$' AND length(ltrim(translate(v_text, '-.', ''), '0')) <= 28) IS NOT TRUE THEN
        RETURN NULL;
    END IF;
    RETURN v_text::numeric;
END $$;

-- A number that the decimal type of the workstations holds before it drops zeros at the end, 96 bits and at most 28 digits behind the mark;
-- and in 28 digits after that.
CREATE FUNCTION countersign.holds(value numeric) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN scale(value) <= 28 AND abs(value) * 10::numeric ^ scale(value) <= 79228162514264337593543950335
    AND abs(value) * 10::numeric ^ scale(trim_scale(value)) < 10::numeric ^ 28;

-- What of a content an effect is made of.
--   accrual, basis:       what approving a claim posts: AGREEMENT, units times rate; or CLAIMED, where its agreement has no rate for it;
--   units, rate:          what it was computed from; no rate where the lines have several;
--   by_agreement:         the accrual, if an agreement says it;
--   read_*:               what the OCR read of a receipt, as it arrived;
--   reads:                that as an amount, where it is one of the currency.
CREATE TYPE countersign.terms AS (accrual numeric, basis text, units numeric, rate numeric, claimed numeric, by_agreement numeric,
    agreement_ref text, agreement_version integer, read_amount text, read_currency text, reads numeric);

-- A claim's accrual is the sum of units times rate over its lines where every line has both, else its own units times its rate, else what
-- was claimed: exact, and then half-up to the currency's minor units. `domain::kind::sales_claim::accrual` computes the same, and gives up
-- where this does: where an exact number has more digits than its decimal type. Then nobody approves it.
CREATE FUNCTION countersign.terms_of(kind text, d jsonb) RETURNS countersign.terms LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_payload jsonb := d -> 'payload';
    v_terms countersign.terms;
    v_exact numeric;
    v_holds boolean := true;
    v_places integer := countersign.minor_units(d ->> 'currency');
BEGIN
    IF kind = 'receipt' THEN
        v_terms.read_amount := left(v_payload ->> 'extracted_amount', 200);
        v_terms.read_currency := CASE WHEN v_terms.read_amount IS NOT NULL THEN d ->> 'currency' END;
        v_terms.reads := countersign.exact(v_payload -> 'extracted_amount');
        v_terms.reads := CASE WHEN scale(v_terms.reads) <= v_places THEN v_terms.reads END;
        RETURN v_terms;
    END IF;
    IF kind <> 'sales_claim' THEN
        RETURN NULL;
    END IF;
    v_terms.claimed := countersign.exact(v_payload -> 'claimed_amount');
    v_terms.agreement_ref := left(v_payload ->> 'agreement_ref', 200);
    v_terms.agreement_version := CASE WHEN jsonb_typeof(v_payload -> 'agreement_version') = 'number' AND v_payload ->> 'agreement_version' ~ '^[0-9]{1,9}$'
                                      THEN (v_payload ->> 'agreement_version')::integer END;
    IF jsonb_typeof(v_payload -> 'line_items') = 'array' AND jsonb_array_length(v_payload -> 'line_items') > 0 THEN
        -- Each product and each sum on the way has to be exact.
        SELECT CASE WHEN count(*) = count(l.product) THEN sum(l.units) END, CASE WHEN min(l.rate) = max(l.rate) THEN min(l.rate) END, sum(l.product),
               bool_and(countersign.holds(l.product) AND countersign.holds(trim_scale(l.before) + trim_scale(l.product)))
        INTO v_terms.units, v_terms.rate, v_exact, v_holds
        FROM (SELECT l.units, l.rate, l.units * l.rate AS product,
                     coalesce(sum(l.units * l.rate) OVER (ORDER BY l.n ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS before
              FROM (SELECT trim_scale(countersign.exact(x -> 'units')) AS units, trim_scale(countersign.exact(x -> 'tier_rate')) AS rate, n
                    FROM jsonb_array_elements(v_payload -> 'line_items') WITH ORDINALITY AS i (x, n)) AS l) AS l;
    END IF;
    IF v_terms.units IS NULL THEN
        v_terms.units := trim_scale(countersign.exact(v_payload -> 'qualifying_units'));
        v_terms.rate := trim_scale(countersign.exact(v_payload -> 'tier_rate'));
        v_exact := v_terms.units * v_terms.rate;
        v_holds := countersign.holds(v_exact);
    END IF;
    v_terms.basis := CASE WHEN v_exact IS NOT NULL THEN 'AGREEMENT' ELSE 'CLAIMED' END;
    IF v_terms.basis = 'CLAIMED' THEN
        v_terms.units := NULL;
        v_terms.rate := NULL;
        v_exact := v_terms.claimed;
        v_holds := true;
    END IF;
    v_exact := round(v_exact, v_places);
    v_terms.accrual := CASE WHEN v_holds AND abs(v_exact) * 10::numeric ^ v_places < 10::numeric ^ 28 THEN v_exact END;
    v_terms.by_agreement := CASE v_terms.basis WHEN 'AGREEMENT' THEN v_terms.accrual END;
    RETURN v_terms;
END $$;

-- What approving a sales claim posts; NULL for other kinds.
CREATE FUNCTION countersign.accrual(d jsonb) RETURNS numeric LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN CASE d ->> 'kind' WHEN 'sales_claim' THEN (countersign.terms_of('sales_claim', d)).accrual END;
END $$;

-- figure_*: what a decision carries, and what is signed. `currency` and `amount` are what an approval takes of a limit: the variance, or
-- its figure, else what was read of a receipt, where that is larger or of another currency.
ALTER TABLE countersign.sign_off ADD figure_amount numeric, ADD figure_currency text,
    ADD CHECK ((figure_amount IS NULL) = (figure_currency IS NULL));

--   basis: VARIANCE; AGREEMENT, units times rate; CLAIMED, as claimed; REVERSAL, the opposite of what was posted.
ALTER TABLE countersign.posting ADD basis text NOT NULL DEFAULT 'VARIANCE', ADD units numeric, ADD rate numeric, ADD agreement_version integer,
    ADD correlation_id uuid, ADD claimed numeric;

--   read_*: what the OCR read of a receipt, as it arrived; corrected_*: what the reviewer entered instead.
ALTER TABLE countersign.routing ADD read_amount text, ADD read_currency text, ADD corrected_amount numeric, ADD corrected_currency text;

-- A claim that was rejected: what the retailer deducted, and what the agreement gives them.
CREATE TABLE countersign.dispute (
    exception_id       bigint      PRIMARY KEY,
    effect_no          bigint      NOT NULL,
    ledger_entity      text        NOT NULL,
    currency           text        NOT NULL,
    claimed            numeric,
    by_agreement       numeric,
    difference         numeric,
    agreement_ref      text,
    agreement_version  integer,
    correlation_id     uuid        NOT NULL,
    reason             text,
    opened_at          timestamptz NOT NULL
);
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON countersign.dispute EXECUTE FUNCTION countersign.append_only();

DROP FUNCTION countersign.sign_off(uuid, bytea[], bigint[], bytea[], bigint[], text[], text[], text[], timestamptz[], integer[], integer[], bytea[], bytea[]);
DROP FUNCTION countersign.sign_off_batch(bytea[], bigint[], bytea[], bigint[], text[], text[], text[], timestamptz[], integer[], integer[], bytea[], bytea[]);
DROP FUNCTION countersign.decision_statement(text, bytea, text, text, text, text, uuid, integer, timestamptz);
DROP FUNCTION countersign.sign_off_payload(bigint, text, text, timestamptz);

-- The bytes that a workstation signs and seals: a JSON array as PostgreSQL writes it, the instant in microseconds since 1970. With a
-- figure it is another one, which ends with it.
CREATE FUNCTION countersign.decision_statement(
    idempotency_key text, content_hash bytea, decision text, reason text, comment text, reviewer text, workstation uuid,
    policy_version integer, decided_at timestamptz, figure_amount text, figure_currency text
) RETURNS bytea LANGUAGE sql STABLE PARALLEL SAFE
RETURN convert_to(CASE WHEN figure_amount IS NULL
    THEN json_build_array('countersign/decision/1', idempotency_key, encode(content_hash, 'hex'), decision, reason, comment, reviewer,
        workstation, policy_version, (extract(epoch FROM decided_at) * 1000000)::bigint)
    ELSE json_build_array('countersign/decision/2', idempotency_key, encode(content_hash, 'hex'), decision, reason, comment, reviewer,
        workstation, policy_version, (extract(epoch FROM decided_at) * 1000000)::bigint, figure_amount, figure_currency) END::text, 'UTF8');

-- Everything else that a key stands for.
CREATE FUNCTION countersign.sign_off_payload(exception_id bigint, reason text, comment text, decided_at timestamptz, figure_amount text, figure_currency text)
RETURNS bytea LANGUAGE sql STABLE PARALLEL SAFE
RETURN sha256(convert_to(CASE WHEN figure_amount IS NULL
    THEN jsonb_build_array(exception_id, reason, comment, (extract(epoch FROM decided_at) * 1000000)::bigint)
    ELSE jsonb_build_array(exception_id, reason, comment, (extract(epoch FROM decided_at) * 1000000)::bigint, figure_amount, figure_currency) END::text, 'UTF8'));

-- What is more than the variance about a decision.
--   weight:   what counts beside the variance: an approval's figure; without one what was read of a receipt, for that is sent on; or for
--             a reversal what it takes back;
--   taken:    the larger of both, or the weight if it is of another currency;
--   differs:  the figure is not the one that is expected;
--   unposted: it reverses what was never posted.
CREATE TYPE countersign.weighed AS (terms countersign.terms, figure numeric, weight numeric, weight_currency text, taken numeric, taken_currency text,
    differs boolean, expected numeric, expected_currency text, unposted boolean);

CREATE FUNCTION countersign.weigh(
    p_exception_id bigint, p_version integer, p_kind text, p_currency text, p_variance numeric, p_reverses bigint, p_has_first boolean,
    p_decision text, p_figure_amount text, p_figure_currency text
) RETURNS countersign.weighed LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v countersign.weighed;
    v_rule text := CASE WHEN p_decision = 'APPROVE' AND p_reverses IS NULL THEN countersign.figure_rule(p_kind) END;
BEGIN
    v.figure := p_figure_amount::numeric;
    IF countersign.figure_rule(p_kind) IS NOT NULL AND p_reverses IS NULL THEN
        SELECT countersign.terms_of(p_kind, c.body::jsonb) INTO v.terms
        FROM countersign.exception_content c WHERE c.exception_id = p_exception_id AND c.version = p_version;
    END IF;
    IF v_rule = 'ACCRUAL' AND (v.terms).accrual IS NOT NULL THEN
        v.expected := (v.terms).accrual;
        v.expected_currency := p_currency;
    ELSIF v_rule = 'CORRECTED' AND p_has_first THEN
        SELECT s.figure_amount, s.figure_currency INTO v.expected, v.expected_currency FROM countersign.sign_off s
        WHERE s.exception_id = p_exception_id AND s.version = p_version AND s.outcome = 'AWAITING_SECOND';
    END IF;
    IF v_rule = 'ACCRUAL' AND v.expected IS NULL THEN
        v.differs := true;
    ELSIF v_rule = 'CORRECTED' AND NOT p_has_first THEN
        -- Any amount over zero that its currency has.
        v.differs := v.figure IS NOT NULL AND (v.figure > 0 AND scale(v.figure) = countersign.minor_units(p_figure_currency)) IS NOT TRUE;
    ELSE
        -- Digit by digit: what is signed has all the digits of its currency.
        v.differs := (p_figure_amount, p_figure_currency) IS DISTINCT FROM (v.expected::text, v.expected_currency);
    END IF;
    -- Nothing is sent on of which nobody can say how much it is.
    v.differs := v.differs OR (v_rule = 'CORRECTED' AND v.figure IS NULL AND (v.terms).reads IS NULL);
    IF p_decision = 'APPROVE' THEN
        v.weight := v.figure;
        v.weight_currency := p_figure_currency;
        IF v_rule = 'CORRECTED' AND v.figure IS NULL THEN
            v.weight := (v.terms).reads;
            v.weight_currency := CASE WHEN v.weight IS NOT NULL THEN (v.terms).read_currency END;
        END IF;
        IF p_reverses IS NOT NULL THEN
            SELECT p.amount, p.currency INTO v.weight, v.weight_currency FROM countersign.posting p WHERE p.exception_id = p_reverses;
            v.unposted := NOT FOUND;
        END IF;
        IF v.weight_currency <> p_currency OR abs(v.weight) > abs(p_variance) THEN
            v.taken := v.weight;
            v.taken_currency := v.weight_currency;
        END IF;
    END IF;
    RETURN v;
END $$;

-- A batch as rows. It is a function of its own for its row estimate: the planner would take 10 for an array it cannot see, and
-- join a batch of 500 by comparing each with each.
CREATE FUNCTION countersign.sign_off_batch(
    p_sign_off_key bytea[], p_exception_id bigint[], p_content_hash bytea[], p_epoch bigint[], p_decision text[],
    p_reason text[], p_comment text[], p_decided_at timestamptz[], p_policy_version integer[], p_enrolment integer[], p_signature bytea[], p_mac bytea[],
    p_figure_amount text[], p_figure_currency text[]
) RETURNS TABLE (key bytea, exception_id bigint, content_hash bytea, epoch bigint, decision text, reason text, comment text,
                 decided_at timestamptz, policy_version integer, enrolment integer, signature bytea, mac bytea,
                 figure_amount text, figure_currency text, n bigint)
LANGUAGE plpgsql STABLE ROWS 200 SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN QUERY
    SELECT * FROM unnest(p_sign_off_key, p_exception_id, p_content_hash, p_epoch, p_decision, p_reason, p_comment, p_decided_at,
                         p_policy_version, p_enrolment, p_signature, p_mac, p_figure_amount, p_figure_currency) WITH ORDINALITY;
END $$;

-- A decision takes effect when its item is next in the partition; until then it is HELD. Outcomes:
--   COMMITTED         decided, and the effect is written;
--   AWAITING_SECOND   approved by the first of two people;
--   HELD              decided; the effect waits for an earlier item of the partition;
--   DUPLICATE         this very decision was accepted before; `first_outcome` was its answer;
--   FORGED            the seal is not that of this workstation over this decision;
--   KEY_REUSED        the key stands for another decision, or is not the key of this one;
--   PREPARER          the reviewer prepared the exception or another pending one of its group, or signed what it reverses;
--   LEASE_SUPERSEDED  the lease it was decided under is not the partition's current one;
--   ALREADY_DECIDED   somebody decided it before;
--   STALE_VERSION     the content is not what the reviewer saw; `body` is the content now;
--   FIGURE_DIFFERS    the figure is not the one that an approval of it carries: `figure_amount` and `figure_currency` are that one, or
--                     NULL where it carries none, its currency has no such amount, or what was read of a receipt is no amount and none
--                     was entered;
--   OVER_LIMIT        over one of the reviewer's limits;
--   PERIOD_CLOSED     its close period is closed;
--   NOT_ELIGIBLE      no such exception, or not one of those the reviewer may sign, or the second approval by the first approver, or a
--                     part of a group without the rest, or under a policy that never was; or it reverses what was never posted.
-- Refusals are returned and not raised, so that their audit records stay. One more row, with the ordinal 0, carries the receipt.
-- A call in the name of a workstation that is not the caller's, or that was revoked, is answered without a row.
CREATE FUNCTION countersign.sign_off(
    p_workstation uuid, p_sign_off_key bytea[], p_exception_id bigint[], p_content_hash bytea[], p_epoch bigint[], p_decision text[],
    p_reason text[], p_comment text[], p_decided_at timestamptz[], p_policy_version integer[], p_enrolment integer[], p_signature bytea[], p_mac bytea[],
    p_figure_amount text[], p_figure_currency text[]
) RETURNS TABLE (ordinal integer, outcome text, first_outcome text, version integer, decided_by text, decision text, decided_at timestamptz,
                 body text, receipt jsonb, figure_amount text, figure_currency text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off SET timezone = 'UTC' AS $$
#variable_conflict use_column
DECLARE
    v_me text;
    v_who countersign.authority;
    v_logins text[];
    v_per_period jsonb;
    v_policy countersign.policy_version;
    v_key countersign.audit_key;
    v_receipt bigint;
    v_installation uuid;
    v_now timestamptz;
    v_partitions text[];
    v_unknown bigint;
    v_bad bigint;
BEGIN
    PERFORM countersign.read_committed();
    IF (cardinality(p_sign_off_key) <= 1000) IS NOT TRUE THEN
        RAISE EXCEPTION 'sign_off takes at most 1000 decisions a call, not %', cardinality(p_sign_off_key) USING ERRCODE = 'program_limit_exceeded';
    END IF;
    IF (cardinality(p_sign_off_key) = ALL (ARRAY[cardinality(p_exception_id), cardinality(p_content_hash), cardinality(p_epoch), cardinality(p_decision),
                                                 cardinality(p_reason), cardinality(p_comment), cardinality(p_decided_at), cardinality(p_policy_version),
                                                 cardinality(p_enrolment), cardinality(p_signature), cardinality(p_mac),
                                                 cardinality(p_figure_amount), cardinality(p_figure_currency)])) IS NOT TRUE THEN
        RAISE EXCEPTION 'sign_off: the arrays differ in length' USING ERRCODE = 'invalid_parameter_value';
    END IF;
    SELECT min(i.n) INTO v_bad
    FROM unnest(p_sign_off_key, p_exception_id, p_content_hash, p_epoch, p_decision, p_reason, p_comment, p_decided_at, p_policy_version, p_enrolment,
                p_signature, p_mac, p_figure_amount, p_figure_currency)
         WITH ORDINALITY AS i (key, exception_id, content_hash, epoch, decision, reason, comment, decided_at, policy_version, enrolment, signature, mac,
                               figure_amount, figure_currency, n)
    WHERE (length(i.key) = 32 AND i.exception_id IS NOT NULL AND length(i.content_hash) = 32 AND i.epoch IS NOT NULL
           AND i.decision IN ('APPROVE', 'REJECT') AND (i.decision = 'APPROVE' OR i.reason IS NOT NULL)
           AND length(coalesce(i.reason, '-')) BETWEEN 1 AND 64 AND length(coalesce(i.comment, '')) <= 2000
           AND i.decided_at BETWEEN '1970-01-01Z' AND '9999-12-31Z'
           AND i.policy_version IS NOT NULL AND i.enrolment IS NOT NULL AND length(i.signature) = 64 AND length(i.mac) = 32
           AND (i.figure_amount IS NULL) = (i.figure_currency IS NULL)
           AND (i.figure_amount IS NULL OR (countersign.is_figure(i.figure_amount) AND i.figure_currency ~ '^[A-Z]{3}$'))) IS NOT TRUE;
    IF v_bad IS NOT NULL THEN
        RAISE EXCEPTION 'sign_off: decision % of the call cannot be: a key and a content hash of 32 bytes, an exception, an epoch, APPROVE or REJECT, a reason of at most 64 characters (a rejection has one), a comment of at most 2000, an instant, a policy version, an enrolment, a signature of 64 bytes and a seal of 32 are expected, and a plain amount of at most 28 digits with a currency, or neither', v_bad
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    -- A revocation takes this row FOR UPDATE: what is being signed is signed before it, or turned away after.
    PERFORM 1 FROM countersign.workstation w WHERE w.id = p_workstation AND w.reviewer = session_user FOR KEY SHARE;
    IF countersign.turned_away(p_workstation, 'sign_off') THEN
        RETURN;
    END IF;
    v_me := countersign.caller(p_workstation);
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
    -- What belongs to a period is signed before it closes, or after that refused.
    PERFORM 1 FROM countersign.period p
    WHERE EXISTS (SELECT 1 FROM unnest(p_exception_id) AS i (id)
                  CROSS JOIN LATERAL (SELECT e.ledger_entity, e.business_date FROM countersign.exception e WHERE e.id = i.id LIMIT 1) AS e
                  WHERE p.ledger_entity IN (e.ledger_entity, '*') AND e.business_date BETWEEN p.first_day AND p.last_day)
    ORDER BY p.ledger_entity, p.name FOR SHARE;
    -- One batch of a person after the other, whatever workstation and login it comes from: what they approved adds up.
    v_logins := countersign.logins_of(v_me);
    INSERT INTO countersign.reviewer_usage (reviewer, period, currency, approved)
    SELECT l, '', '', 0 FROM unnest(v_logins) AS l ORDER BY l ON CONFLICT DO NOTHING;
    PERFORM 1 FROM countersign.reviewer_usage u WHERE u.reviewer = ANY (v_logins) AND u.period = '' ORDER BY u.reviewer FOR NO KEY UPDATE;
    -- Whoever waited for these rows is judged by what holds now: the reviewer may have been disabled meanwhile.
    v_me := countersign.caller(p_workstation);
    v_who := countersign.authority_of(v_me);
    v_policy := countersign.policy();
    v_key := countersign.sealing_key();
    SELECT coalesce(jsonb_object_agg(l.currency, l.per_period::text), '{}') INTO v_per_period
    FROM countersign.reviewer_limit l WHERE l.reviewer = v_me AND l.per_period IS NOT NULL;
    SELECT i.id INTO STRICT v_installation FROM countersign.installation i;
    v_receipt := nextval('countersign.receipt_no');
    v_now := clock_timestamp();

    RETURN QUERY
    WITH rule AS MATERIALIZED (
        -- When two people have to approve. The currency `*` stands for every one that no rule of the policy names; a rule without kind
        -- or tier holds for all of them.
        SELECT r.* FROM jsonb_to_recordset(v_policy.document -> 'four_eyes') AS r (currency text, kind text, tier text, at_or_above numeric)
    ), item AS MATERIALIZED (
        SELECT i.*, e.idempotency_key, e.partition_key, e.seq, e.version, e.state, e.ledger_entity, e.currency, e.variance_amount,
               e.trace_id, e.source_hash, e.match_decision, e.decided_by AS old_decided_by, e.decision AS old_decision, e.decided_at AS old_decided_at,
               e.kind, e.reverses, e.correlation_id, w.terms, w.figure, w.expected, w.expected_currency,
               coalesce(w.taken, e.variance_amount) AS taken, coalesce(w.taken_currency, e.currency) AS taken_currency,
               countersign.sign_off_payload(i.exception_id, i.reason, i.comment, i.decided_at, i.figure_amount, i.figure_currency) AS payload_hash,
               s.payload_hash AS first_payload, s.outcome AS first_outcome,
               p.chain_seq, p.chain_head, p.head_seq, p.next_seq, coalesce(q.name, to_char(e.business_date, 'YYYY-MM')) AS period,
               e.first_by IS NULL AND i.decision = 'APPROVE' AND EXISTS (
                   SELECT 1 FROM rule r
                   WHERE (r.currency = e.currency OR (r.currency = '*' AND NOT EXISTS (SELECT 1 FROM rule n WHERE n.currency = e.currency)))
                     AND (r.kind IS NULL OR r.kind = e.kind) AND (r.tier IS NULL OR r.tier = e.routing_tier) AND abs(e.variance_amount) >= r.at_or_above
                   UNION ALL
                   -- A figure counts beside the variance, in its own currency.
                   SELECT 1 FROM rule r
                   WHERE w.weight IS NOT NULL
                     AND (r.currency = w.weight_currency OR (r.currency = '*' AND NOT EXISTS (SELECT 1 FROM rule n WHERE n.currency = w.weight_currency)))
                     AND (r.kind IS NULL OR r.kind = e.kind) AND (r.tier IS NULL OR r.tier = e.routing_tier) AND abs(w.weight) >= r.at_or_above) AS is_first,
               CASE WHEN e.id IS NULL THEN 'NOT_ELIGIBLE'
                    WHEN countersign.hmac(k.inner_pad, k.outer_pad, countersign.decision_statement(e.idempotency_key, i.content_hash, i.decision,
                             i.reason, i.comment, v_me, p_workstation, i.policy_version, i.decided_at, i.figure_amount, i.figure_currency) || i.signature) IS DISTINCT FROM i.mac THEN 'FORGED'
                    WHEN i.key IS DISTINCT FROM countersign.sign_off_key(e.idempotency_key, i.content_hash, i.decision, v_me) THEN 'KEY_REUSED'
                    WHEN s.sign_off_key IS NOT NULL THEN 'KNOWN'
                    WHEN e.first_by IS NOT NULL AND countersign.names_of(e.first_by) && v_who.names THEN 'NOT_ELIGIBLE'
                    WHEN e.barred && v_who.names THEN 'PREPARER'
                    WHEN e.group_key IS NOT NULL AND EXISTS (
                        SELECT 1 FROM countersign.exception g WHERE g.partition_key = e.partition_key AND g.group_key = e.group_key AND g.state = 'PENDING'
                            AND g.barred && v_who.names AND (g.first_by IS NULL OR NOT countersign.names_of(g.first_by) && v_who.names)) THEN 'PREPARER'
                    WHEN countersign.closed_alone(v_who, '{}', e.kind, e.routing_tier, e.ledger_entity, e.currency, 0) THEN 'NOT_ELIGIBLE'
                    WHEN NOT EXISTS (
                        SELECT 1 FROM countersign.policy_version v
                        WHERE v.version = i.policy_version AND (i.decision = 'APPROVE' OR v.document -> 'reason_codes' @> jsonb_build_array(jsonb_build_object('code', i.reason)))
                        ) THEN 'NOT_ELIGIBLE'
                    WHEN (p.epoch = i.epoch AND p.holder = p_workstation AND p.holder_reviewer = v_me) IS NOT TRUE THEN 'LEASE_SUPERSEDED'
                    WHEN e.state <> 'PENDING' THEN 'ALREADY_DECIDED'
                    WHEN countersign.closed_alone(v_who, '{}', e.kind, e.routing_tier, e.ledger_entity, e.currency, e.variance_amount) THEN 'OVER_LIMIT'
                    WHEN e.content_hash IS DISTINCT FROM i.content_hash THEN 'STALE_VERSION'
                    WHEN w.differs THEN 'FIGURE_DIFFERS'
                    WHEN w.unposted THEN 'NOT_ELIGIBLE'
                    WHEN w.weight IS NOT NULL AND countersign.closed_alone(v_who, '{}', e.kind, e.routing_tier, e.ledger_entity, w.weight_currency, w.weight)
                        THEN 'OVER_LIMIT'
                    WHEN e.group_key IS NOT NULL AND EXISTS (
                        -- A group is decided by one person in one call. What they approved first of it waits for somebody else.
                        SELECT 1 FROM countersign.exception g
                        WHERE g.partition_key = e.partition_key AND g.group_key = e.group_key AND g.state = 'PENDING' AND NOT g.id = ANY (p_exception_id)
                          AND (g.first_names && v_who.names) IS NOT TRUE) THEN 'NOT_ELIGIBLE'
                    WHEN q.state = 'closed' THEN 'PERIOD_CLOSED'
                    ELSE 'ACCEPTED' END AS verdict
        FROM countersign.sign_off_batch(p_sign_off_key, p_exception_id, p_content_hash, p_epoch, p_decision, p_reason, p_comment, p_decided_at,
                                        p_policy_version, p_enrolment, p_signature, p_mac, p_figure_amount, p_figure_currency) AS i
        LEFT JOIN LATERAL (SELECT e.* FROM countersign.exception e WHERE e.id = i.exception_id LIMIT 1) AS e ON true
        LEFT JOIN LATERAL (SELECT p.* FROM countersign.partition p WHERE p.partition_key = e.partition_key LIMIT 1) AS p ON true
        LEFT JOIN LATERAL (SELECT s.* FROM countersign.sign_off s WHERE s.sign_off_key = i.key LIMIT 1) AS s ON true
        LEFT JOIN LATERAL (SELECT k.* FROM countersign.workstation_key k
                           WHERE k.workstation = p_workstation AND k.enrolment = i.enrolment AND k.confirmed_at IS NOT NULL LIMIT 1) AS k ON true
        LEFT JOIN LATERAL (SELECT q.name, q.state FROM countersign.period q
                           WHERE q.ledger_entity IN (e.ledger_entity, '*') AND e.business_date BETWEEN q.first_day AND q.last_day
                           ORDER BY q.ledger_entity = '*' LIMIT 1) AS q ON true
        -- An ordinary exception weighs what its variance is, and its content is not read.
        LEFT JOIN LATERAL (SELECT w.* FROM countersign.weigh(e.id, e.version, e.kind, e.currency, e.variance_amount, e.reverses, e.first_by IS NOT NULL,
                                                             i.decision, i.figure_amount, i.figure_currency) AS w
                           WHERE countersign.figure_rule(e.kind) IS NOT NULL OR e.reverses IS NOT NULL OR i.figure_amount IS NOT NULL LIMIT 1) AS w ON true
    ), first AS MATERIALIZED (
        -- The first acceptable decision on an exception is the one; a repetition in the same call is judged against it.
        SELECT i.*, i.verdict = 'ACCEPTED' AND i.n = first_value(i.n) OVER same AS acceptable,
               first_value(i.key) OVER same AS accepted_key, first_value(i.payload_hash) OVER same AS accepted_payload,
               first_value(i.decision) OVER same AS accepted_decision
        FROM item i WINDOW same AS (PARTITION BY i.exception_id ORDER BY i.verdict <> 'ACCEPTED', i.n)
    ), counted AS MATERIALIZED (
        SELECT f.*, u.approved AS before, CASE WHEN f.acceptable AND f.decision = 'APPROVE' THEN abs(f.taken) ELSE 0 END AS takes,
               countersign.spent(CASE WHEN f.acceptable AND f.decision = 'APPROVE' THEN abs(f.taken) ELSE 0 END,
                   coalesce((v_per_period ->> f.taken_currency)::numeric, (v_per_period ->> '*')::numeric), coalesce(u.approved, 0))
                   OVER (PARTITION BY f.period, f.taken_currency ORDER BY f.n) AS spent
        FROM first f
        LEFT JOIN LATERAL (SELECT sum(u.approved) AS approved FROM countersign.reviewer_usage u
                           WHERE u.reviewer = ANY (v_logins) AND u.period = f.period AND u.currency = f.taken_currency) AS u ON true
    ), judged AS MATERIALIZED (
        SELECT c.*, c.acceptable AND c.fits AS accepted, c.acceptable AND c.fits AND c.is_first AS awaits
        FROM (SELECT c.*, c.takes = 0 OR c.spent = coalesce(lag(c.spent) OVER (PARTITION BY c.period, c.taken_currency ORDER BY c.n), c.before, 0) + c.takes AS fits
              FROM counted c) AS c
    ), bound AS MATERIALIZED (
        -- How far each partition's effects reach once these decisions stand: up to its first item that is still pending.
        SELECT t.partition_key, t.head_seq, t.decided, coalesce((
                   SELECT e.seq FROM countersign.exception e
                   WHERE e.partition_key = t.partition_key AND e.seq >= t.head_seq AND e.state = 'PENDING'
                     AND e.id NOT IN (SELECT j.exception_id FROM judged j WHERE j.accepted AND NOT j.awaits)
                   ORDER BY e.seq LIMIT 1), t.next_seq) AS head
        FROM (SELECT j.partition_key, j.head_seq, j.next_seq, count(*)::integer AS decided FROM judged j WHERE j.accepted AND NOT j.awaits
              GROUP BY j.partition_key, j.head_seq, j.next_seq) AS t
    ), answered AS MATERIALIZED (
        SELECT j.*, b.head,
               CASE WHEN j.awaits THEN 'AWAITING_SECOND'
                    WHEN j.accepted AND j.seq < b.head THEN 'COMMITTED'
                    WHEN j.accepted THEN 'HELD'
                    WHEN j.acceptable THEN 'OVER_LIMIT'
                    WHEN j.verdict = 'KNOWN' AND j.first_payload = j.payload_hash THEN 'DUPLICATE'
                    WHEN j.verdict = 'KNOWN' THEN 'KEY_REUSED'
                    WHEN j.verdict = 'ACCEPTED' AND NOT (SELECT f.fits FROM judged f WHERE f.exception_id = j.exception_id AND f.acceptable) THEN 'OVER_LIMIT'
                    WHEN j.verdict = 'ACCEPTED' AND j.accepted_key = j.key AND j.accepted_payload = j.payload_hash THEN 'DUPLICATE'
                    WHEN j.verdict = 'ACCEPTED' AND j.accepted_key = j.key THEN 'KEY_REUSED'
                    WHEN j.verdict = 'ACCEPTED' AND (SELECT f.awaits FROM judged f WHERE f.exception_id = j.exception_id AND f.acceptable) THEN 'NOT_ELIGIBLE'
                    WHEN j.verdict = 'ACCEPTED' THEN 'ALREADY_DECIDED'
                    ELSE j.verdict END AS answer
        FROM judged j LEFT JOIN bound b ON b.partition_key = j.partition_key
    ), decided AS MATERIALIZED (
        -- What changes: the decisions that stand, and earlier ones that were held and now are next.
        SELECT d.*, CASE WHEN d.takes_effect THEN nextval('countersign.effect_no') END AS effect_no,
               CASE WHEN d.takes_effect THEN countersign.effect_of(d.kind, d.decision, d.reverses IS NOT NULL) END AS effect
        FROM (
            SELECT a.exception_id AS id, a.partition_key, a.seq, a.decision, a.reason, a.period, v_me AS decided_by, a.answer = 'COMMITTED' AS takes_effect,
                   false AS was_held, a.ledger_entity, a.currency, a.variance_amount, a.trace_id, a.source_hash, a.match_decision, a.content_hash,
                   a.kind, a.reverses, a.correlation_id, a.terms, a.figure, a.figure_currency
            FROM answered a WHERE a.accepted AND NOT a.awaits
            UNION ALL
            SELECT e.id, e.partition_key, e.seq, e.decision, s.reason, s.period, e.decided_by, true,
                   true, e.ledger_entity, e.currency, e.variance_amount, e.trace_id, e.source_hash, e.match_decision, e.content_hash,
                   e.kind, e.reverses, e.correlation_id, t.terms, s.figure_amount, s.figure_currency
            FROM bound b
            JOIN countersign.exception e ON e.partition_key = b.partition_key AND e.seq >= b.head_seq AND e.seq < b.head AND e.state IN ('APPROVED', 'REJECTED')
            LEFT JOIN LATERAL (SELECT s.reason, s.period, s.figure_amount, s.figure_currency FROM countersign.sign_off s
                               WHERE s.exception_id = e.id ORDER BY s.signed_at DESC LIMIT 1) AS s ON true
            LEFT JOIN LATERAL (SELECT countersign.terms_of(e.kind, c.body::jsonb) AS terms FROM countersign.exception_content c
                               WHERE countersign.figure_rule(e.kind) IS NOT NULL AND e.reverses IS NULL AND c.exception_id = e.id AND c.version = e.version LIMIT 1) AS t ON true
            ORDER BY partition_key, seq
        ) AS d
    ), posted AS (
        -- A reversal posts the opposite of what was posted. What an earlier release approved of a claim posts its variance, as was shown.
        INSERT INTO countersign.posting (exception_id, effect_no, ledger_entity, currency, amount, posted_at, period,
            basis, units, rate, agreement_version, correlation_id, claimed)
        SELECT d.id, d.effect_no, d.ledger_entity, coalesce(o.currency, d.figure_currency, d.currency), coalesce(-o.amount, d.figure, d.variance_amount),
               v_now, d.period, CASE WHEN o.amount IS NOT NULL THEN 'REVERSAL' WHEN d.figure IS NOT NULL THEN (d.terms).basis ELSE 'VARIANCE' END,
               CASE WHEN d.figure IS NOT NULL THEN (d.terms).units END, CASE WHEN d.figure IS NOT NULL THEN (d.terms).rate END,
               (d.terms).agreement_version, CASE WHEN countersign.figure_rule(d.kind) IS NOT NULL THEN d.correlation_id END, (d.terms).claimed
        FROM decided d
        LEFT JOIN LATERAL (SELECT p.currency, p.amount FROM countersign.posting p WHERE d.reverses IS NOT NULL AND p.exception_id = d.reverses LIMIT 1) AS o ON true
        WHERE d.effect = 'POSTING'
    ), routed AS (
        INSERT INTO countersign.routing (exception_id, effect_no, routed_to, reason, routed_at, read_amount, read_currency, corrected_amount, corrected_currency)
        SELECT d.id, d.effect_no, countersign.routed_to(d.kind, d.decision, d.reverses IS NOT NULL), d.reason, v_now,
               (d.terms).read_amount, (d.terms).read_currency, d.figure, d.figure_currency
        FROM decided d WHERE d.effect = 'ROUTING'
    ), disputed AS (
        INSERT INTO countersign.dispute (exception_id, effect_no, ledger_entity, currency, claimed, by_agreement, difference, agreement_ref,
            agreement_version, correlation_id, reason, opened_at)
        SELECT d.id, d.effect_no, d.ledger_entity, d.currency, (d.terms).claimed, (d.terms).by_agreement, (d.terms).claimed - (d.terms).by_agreement,
               (d.terms).agreement_ref, (d.terms).agreement_version, d.correlation_id, d.reason, v_now
        FROM decided d WHERE d.effect = 'DISPUTE'
    ), moved AS (
        UPDATE countersign.exception e SET
            state = CASE WHEN d.takes_effect THEN 'RESOLVED' WHEN d.decision = 'APPROVE' THEN 'APPROVED' ELSE 'REJECTED' END,
            decision = d.decision, decided_by = d.decided_by, decided_at = CASE WHEN d.was_held THEN e.decided_at ELSE v_now END,
            resolved_at = CASE WHEN d.takes_effect THEN v_now END, first_by = NULL, first_names = NULL
        FROM decided d WHERE e.id = d.id
    ), begun AS (
        UPDATE countersign.exception e SET first_by = v_me, first_names = v_who.names, barred = e.barred || v_who.names FROM answered a WHERE a.awaits AND e.id = a.exception_id
    ), chained AS MATERIALIZED (
        SELECT r.*, countersign.chain(CASE WHEN r.place = 1 THEN r.chain_head ELSE '' END || countersign.audit_record(r.partition_key,
                   r.chain_seq + r.place, v_now, r.event, v_me, p_workstation, r.exception_id, r.trace_id, r.source_hash, r.match_decision,
                   r.content_hash, r.outcome, r.detail)) OVER chain AS chain_hash
        FROM (
            SELECT r.*, row_number() OVER chain AS place, count(*) OVER (PARTITION BY r.partition_key) AS places FROM (
                SELECT a.partition_key, a.chain_seq, a.chain_head, false AS late, a.n::bigint AS n, 'SIGNED' AS event, a.exception_id, a.trace_id, a.source_hash,
                       a.match_decision, a.content_hash, a.answer AS outcome,
                       jsonb_build_object('key', encode(a.key, 'hex'), 'payload', encode(a.payload_hash, 'hex'), 'decision', a.decision, 'decided_at', a.decided_at,
                           'epoch', a.epoch, 'receipt', v_receipt, 'policy', v_policy.version, 'seal', encode(a.mac, 'hex'))
                           || CASE WHEN a.figure_amount IS NULL THEN '{}'::jsonb ELSE jsonb_build_object('figure', jsonb_build_array(a.figure_amount, a.figure_currency)) END AS detail
                FROM answered a WHERE a.partition_key IS NOT NULL AND a.answer <> 'DUPLICATE'
                UNION ALL
                SELECT d.partition_key, p.chain_seq, p.chain_head, true, d.seq, 'EFFECT', d.id, d.trace_id, d.source_hash, d.match_decision, d.content_hash, 'COMMITTED',
                       jsonb_build_object('decision', d.decision, 'decided_by', d.decided_by)
                FROM decided d JOIN countersign.partition p ON p.partition_key = d.partition_key WHERE d.was_held
            ) AS r WINDOW chain AS (PARTITION BY r.partition_key ORDER BY r.late, r.n)
        ) AS r WINDOW chain AS (PARTITION BY r.partition_key ORDER BY r.late, r.n)
    ), signed AS (
        INSERT INTO countersign.sign_off (sign_off_key, payload_hash, exception_id, version, content_hash, reviewer, workstation, epoch,
            decision, reason, comment, decided_at, signed_at, outcome,
            partition_key, chain_seq, receipt_id, policy_version, in_force, enrolment, signature, mac, period, currency, amount,
            figure_amount, figure_currency)
        SELECT a.key, a.payload_hash, a.exception_id, a.version, a.content_hash, v_me, p_workstation, a.epoch,
               a.decision, a.reason, a.comment, a.decided_at, v_now, a.answer,
               a.partition_key, c.chain_seq + c.place, v_receipt, a.policy_version, v_policy.version, a.enrolment, a.signature, a.mac, a.period,
               a.taken_currency, a.taken, a.figure, a.figure_currency
        FROM answered a JOIN chained c ON c.partition_key = a.partition_key AND c.n = a.n AND NOT c.late
        WHERE a.accepted
    ), used AS (
        INSERT INTO countersign.reviewer_usage AS u (reviewer, period, currency, approved)
        SELECT v_me, a.period, a.taken_currency, sum(a.takes) FROM answered a WHERE a.accepted AND a.takes > 0 GROUP BY a.period, a.taken_currency
        ON CONFLICT (reviewer, period, currency) DO UPDATE SET approved = u.approved + excluded.approved
    ), audited AS (
        INSERT INTO countersign.audit_event (partition_key, chain_seq, at, event, actor, workstation, exception_id, trace_id, source_hash,
            match_decision, content_hash, outcome, detail, chain_hash, key_id, mac)
        SELECT c.partition_key, c.chain_seq + c.place, v_now, c.event, v_me, p_workstation, c.exception_id, c.trace_id, c.source_hash,
               c.match_decision, c.content_hash, c.outcome, c.detail, c.chain_hash, v_key.id, countersign.hmac(v_key.inner_pad, v_key.outer_pad, c.chain_hash)
        FROM chained c
    ), advanced AS (
        UPDATE countersign.partition p SET
            chain_seq = c.chain_seq + c.place, chain_head = c.chain_hash, head_seq = coalesce(b.head, p.head_seq),
            pending = p.pending - coalesce(b.decided, 0), passed_by = CASE WHEN b.decided IS NULL THEN p.passed_by ELSE '{}' END
        FROM chained c LEFT JOIN bound b ON b.partition_key = c.partition_key
        WHERE c.place = c.places AND p.partition_key = c.partition_key
    ), written AS MATERIALIZED (
        SELECT jsonb_build_object(
            'receipt', v_receipt, 'at', (extract(epoch FROM v_now) * 1000000)::bigint, 'installation', v_installation, 'reviewer', v_me,
            'workstation', p_workstation, 'policy_version', v_policy.version,
            'submitted', count(*), 'committed', count(*) FILTER (WHERE a.accepted), 'duplicate', count(*) FILTER (WHERE a.answer = 'DUPLICATE'),
            'refused', count(*) FILTER (WHERE NOT a.accepted AND a.answer <> 'DUPLICATE'),
            'under_another_policy', count(*) FILTER (WHERE a.policy_version <> v_policy.version),
            'outcomes', (SELECT jsonb_object_agg(o.answer, o.items) FROM (SELECT x.answer, count(*) AS items FROM answered x GROUP BY x.answer) AS o),
            'totals', coalesce((SELECT jsonb_object_agg(t.currency, jsonb_build_object('items', t.items, 'debits', t.debits::text, 'credits', t.credits::text, 'net', t.net::text))
                                FROM (SELECT x.currency, count(*) AS items, coalesce(sum(x.variance_amount) FILTER (WHERE x.variance_amount > 0), 0) AS debits,
                                             coalesce(sum(x.variance_amount) FILTER (WHERE x.variance_amount < 0), 0) AS credits, sum(x.variance_amount) AS net
                                      FROM answered x WHERE x.accepted GROUP BY x.currency) AS t), '{}'),
            'keys_sha256', encode(sha256(string_agg(a.key, ''::bytea ORDER BY a.key)), 'hex'),
            'records', coalesce((SELECT jsonb_agg(jsonb_build_array(r.partition_key, r.from_seq, r.to_seq) ORDER BY r.partition_key)
                                 FROM (SELECT c.partition_key, min(c.chain_seq + c.place) AS from_seq, max(c.chain_seq + c.place) AS to_seq FROM chained c GROUP BY c.partition_key) AS r), '[]'),
            'duplicates', coalesce(jsonb_agg(encode(a.key, 'hex') ORDER BY a.n) FILTER (WHERE a.answer = 'DUPLICATE'), '[]'),
            'unknown', coalesce(jsonb_agg(encode(a.key, 'hex') ORDER BY a.n) FILTER (WHERE a.partition_key IS NULL), '[]')) AS document
        FROM answered a HAVING count(*) > 0
    ), receipted AS (
        INSERT INTO countersign.receipt (id, at, reviewer, workstation, document, key_id, mac)
        SELECT v_receipt, v_now, v_me, p_workstation, w.document, v_key.id,
               countersign.hmac(v_key.inner_pad, v_key.outer_pad, countersign.receipt_seal(w.document))
        FROM written w
    )
    SELECT 0, NULL::text, NULL::text, NULL::integer, NULL::text, NULL::text, NULL::timestamptz, NULL::text, w.document, NULL::text, NULL::text FROM written w
    UNION ALL
    SELECT a.n::integer, a.answer,
           CASE WHEN a.answer = 'DUPLICATE' THEN coalesce(a.first_outcome, CASE WHEN (SELECT f.awaits FROM judged f WHERE f.exception_id = a.exception_id AND f.acceptable) THEN 'AWAITING_SECOND'
                                                                                WHEN a.seq < a.head THEN 'COMMITTED' ELSE 'HELD' END) END,
           a.version,
           CASE WHEN a.answer IN ('ALREADY_DECIDED', 'LEASE_SUPERSEDED') THEN coalesce(a.old_decided_by, CASE WHEN a.answer = 'ALREADY_DECIDED' THEN v_me END) END,
           CASE WHEN a.answer IN ('ALREADY_DECIDED', 'LEASE_SUPERSEDED') THEN coalesce(a.old_decision, CASE WHEN a.answer = 'ALREADY_DECIDED' THEN a.accepted_decision END) END,
           CASE WHEN a.answer IN ('ALREADY_DECIDED', 'LEASE_SUPERSEDED') THEN coalesce(a.old_decided_at, CASE WHEN a.answer = 'ALREADY_DECIDED' THEN v_now END) END,
           CASE WHEN a.answer = 'STALE_VERSION' THEN (
               SELECT b.body FROM countersign.exception_content b WHERE b.exception_id = a.exception_id AND b.version = a.version) END,
           NULL::jsonb,
           CASE WHEN a.answer = 'FIGURE_DIFFERS' THEN a.expected::text END, CASE WHEN a.answer = 'FIGURE_DIFFERS' THEN a.expected_currency END
    FROM answered a;

    IF v_unknown > 0 THEN
        PERFORM countersign.audit_installation('SIGNED', p_workstation, i.id, 'NOT_ELIGIBLE', jsonb_build_object('key', encode(i.key, 'hex'), 'receipt', v_receipt))
        FROM unnest(p_exception_id, p_sign_off_key) AS i (id, key) LEFT JOIN countersign.exception e ON e.id = i.id WHERE e.id IS NULL;
    END IF;
END $$;

-- Read-only, and of the owner's rights.
CREATE OR REPLACE VIEW countersign.sign_offs AS SELECT * FROM countersign.sign_off;
CREATE OR REPLACE VIEW countersign.postings AS SELECT * FROM countersign.posting;
CREATE OR REPLACE VIEW countersign.routings AS SELECT * FROM countersign.routing;
CREATE VIEW countersign.disputes AS SELECT * FROM countersign.dispute;

-- From here on an approval of a claim carries what it posts, and each kind has its own effect.
SELECT countersign.audit_installation('FIGURES_BEGAN', NULL, NULL, NULL, '{}');

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA countersign FROM PUBLIC;
REVOKE ALL ON ALL TABLES IN SCHEMA countersign FROM PUBLIC;
GRANT EXECUTE ON FUNCTION countersign.sign_off TO countersign_reviewer;
GRANT SELECT ON countersign.disputes TO countersign_supervisor, countersign_auditor;

RESET ROLE;
