//! Dead letters: every step has its record and every record its step, a letter is as its last step left it, and each step was one that
//! could follow the one before.

/// Numbers of letters of which a row, a step, a correction or a record is missing or another. An original over 16 MiB is kept in part.
/// (What earlier releases recorded says the
/// reason itself, and has no number.)
pub(super) const RECORDED: &str = "
    WITH said AS MATERIALIZED (
        SELECT a.detail ->> 'dead_letter' AS id, coalesce(a.detail ->> 'no', '1') AS no, a.event, a.actor, a.at, a.outcome, a.exception_id, a.detail
        FROM countersign.audit_events a WHERE a.partition_key = '' AND (a.event = 'DEAD_LETTERED' OR a.event LIKE 'LETTER\\_%')
    ), bad AS (
        SELECT coalesce(e.dead_letter::text, s.id, '?') AS id FROM countersign.dead_letter_events e FULL JOIN said s ON s.id = e.dead_letter::text AND s.no = e.no::text
        WHERE (s.event = e.event AND s.actor = e.actor AND s.at = e.at AND s.exception_id IS NOT DISTINCT FROM e.exception_id
               AND (e.event = 'DEAD_LETTERED' OR s.outcome IS NOT DISTINCT FROM e.outcome)
               AND CASE WHEN s.detail ? 'why'
                        THEN s.detail ->> 'why' = encode(sha256(convert_to(coalesce(e.field, '') || E'\\n' || e.reason, 'UTF8')), 'hex')
                             AND s.detail ->> 'status' = e.status AND s.detail ->> 'cause' = e.cause AND s.detail ->> 'owner' IS NOT DISTINCT FROM e.owner
                             AND s.detail ->> 'attempts' = e.attempts::text AND s.detail ->> 'revision' = e.revision::text
                             AND s.detail ->> 'said' IS NOT DISTINCT FROM e.said AND s.detail ->> 'body_hash' IS NOT DISTINCT FROM encode(e.body_hash, 'hex')
                        ELSE e.event = 'DEAD_LETTERED' AND s.detail ->> 'reason' = e.reason AND e.status = 'OPEN' AND e.attempts = 1 AND e.revision = 0 END) IS NOT TRUE
        UNION
        SELECT coalesce(d.id, e.dead_letter)::text FROM countersign.dead_letters d
        FULL JOIN (SELECT e.*, lead(e.no) OVER (PARTITION BY e.dead_letter ORDER BY e.no) AS next FROM countersign.dead_letter_events e) AS e ON e.dead_letter = d.id
        WHERE d.id IS NULL OR e.no IS NULL OR (e.next IS NULL AND (d.events, d.status, d.attempts, d.revision, d.cause, d.reason) IS DISTINCT FROM (e.no, e.status, e.attempts, e.revision, e.cause, e.reason))
           OR (e.next IS NULL AND (d.owner, d.field, d.outcome, d.exception_id) IS DISTINCT FROM (e.owner, e.field, e.outcome, e.exception_id))
           OR (e.next IS NULL AND e.status = 'DISCARDING' AND (d.discard_by, d.discard_reason) IS DISTINCT FROM (e.actor, e.said))
           OR (e.next IS NULL AND e.status = 'DISCARDED' AND d.discard_reason IS DISTINCT FROM e.said)
        UNION
        SELECT coalesce(d.id::text, s.id, '?') FROM countersign.dead_letters d FULL JOIN (SELECT * FROM said s WHERE s.event = 'DEAD_LETTERED') AS s ON s.id = d.id::text
        WHERE (s.detail ->> 'original_hash' = encode(d.original_hash, 'hex') AND s.detail ->> 'origin' = d.origin AND s.outcome = d.code
               AND s.detail ->> 'line' IS NOT DISTINCT FROM d.line::text
               AND CASE WHEN d.original_size > 16777216 THEN length(d.original) BETWEEN 1 AND 16777216
                        ELSE length(d.original) = d.original_size AND sha256(d.original) = d.original_hash END) IS NOT TRUE
        UNION
        SELECT coalesce(r.dead_letter, e.dead_letter)::text FROM countersign.dead_letter_revisions r
        FULL JOIN (SELECT * FROM countersign.dead_letter_events e WHERE e.event = 'LETTER_CORRECTED') AS e ON e.dead_letter = r.dead_letter AND e.revision = r.revision
        WHERE (r.made_by = e.actor AND r.body_hash = e.body_hash AND sha256(convert_to(r.body, 'UTF8')) = r.body_hash) IS NOT TRUE
    )
    SELECT b.id FROM bad b ORDER BY length(b.id), b.id LIMIT 20";

/// Numbers of letters with a step that could not follow the one before: the taker alone corrects, whoever asks to discard does not
/// agree to it, what went in is an exception, and who corrected it may not sign it.
pub(super) const LIVES: &str = "
    WITH step AS (
        SELECT e.*, row_number() OVER w AS place, lag(e.status) OVER w AS was, lag(e.owner) OVER w AS owned, lag(e.actor) OVER w AS before, lag(e.attempts) OVER w AS tried,
               lag(e.revision) OVER w AS revised
        FROM countersign.dead_letter_events e WINDOW w AS (PARTITION BY e.dead_letter ORDER BY e.no)
    ), bad AS (
        SELECT s.dead_letter FROM step s
        WHERE (s.no = s.place AND (s.place = 1 OR s.revision = s.revised + (s.event = 'LETTER_CORRECTED')::integer)
               AND (s.place = 1 OR s.attempts = s.tried + (s.event = 'LETTER_REPLAYED')::integer)
               AND CASE s.event
                       WHEN 'DEAD_LETTERED' THEN s.place = 1 AND s.status = 'OPEN' AND s.revision = 0
                       WHEN 'LETTER_TAKEN' THEN s.was = 'OPEN' AND s.status = 'TAKEN' AND s.owner = s.actor
                       WHEN 'LETTER_PUT_BACK' THEN s.was IN ('TAKEN', 'DISCARDING') AND s.status = 'OPEN' AND s.owner IS NULL
                       WHEN 'LETTER_CORRECTED' THEN s.was = 'TAKEN' AND s.status = 'TAKEN' AND s.owned = s.actor AND s.owner = s.actor
                       WHEN 'LETTER_REPLAYED' THEN (s.was = 'OPEN' OR (s.was = 'TAKEN' AND s.owned = s.actor))
                           AND CASE WHEN s.outcome IN ('ENQUEUED', 'CORRECTED', 'DUPLICATE', 'RELEASED') THEN s.status = 'REPLAYED' AND s.owner = s.actor
                                    ELSE s.outcome IN ('REFUSED', 'CONFLICT') AND s.status = 'OPEN' AND s.owner IS NULL END
                       WHEN 'LETTER_DISCARD_ASKED' THEN (s.was = 'OPEN' OR (s.was = 'TAKEN' AND s.owned = s.actor)) AND s.status = 'DISCARDING' AND s.said <> ''
                       WHEN 'LETTER_DISCARDED' THEN s.was = 'DISCARDING' AND s.status = 'DISCARDED' AND s.actor <> s.before
                       ELSE false END) IS NOT TRUE
        UNION
        SELECT d.id FROM countersign.dead_letters d LEFT JOIN countersign.exceptions e ON e.id = d.exception_id
        WHERE d.status = 'REPLAYED' AND d.outcome IN ('ENQUEUED', 'CORRECTED') AND (e.id IS NULL OR EXISTS (
            SELECT 1 FROM countersign.dead_letter_revisions r WHERE r.dead_letter = d.id
              AND lower(upper(btrim(regexp_replace(normalize(r.made_by, NFKC), '[\\u00AD\\u200B-\\u200F\\u2028-\\u202E\\u2060-\\u2069\\uFEFF\\u0001-\\u001F\\u007F-\\u009F]', '', 'g')))) <> ALL (e.barred)))
    )
    SELECT b.dead_letter::text FROM bad b ORDER BY b.dead_letter LIMIT 20";
