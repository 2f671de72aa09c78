-- Who may call what is new, and what auditors see of it.

SET LOCAL ROLE countersign_owner;

CREATE OR REPLACE VIEW countersign.exceptions AS SELECT
    e.id, e.partition_key, e.seq, e.idempotency_key, e.kind, e.match_decision, e.routing_tier, e.ledger_entity, e.currency,
    e.variance_amount, e.prepared_by, e.group_key, e.trace_id, e.correlation_id, e.source_hash, e.submitted_at, e.arrived_at,
    e.version, e.content_hash, e.state, e.decision, e.decided_by, e.decided_at, e.resolved_at, e.business_date, e.barred,
    e.first_by, e.first_names, e.reverses, e.due_on, e.counterparty
FROM countersign.exception e;
CREATE OR REPLACE VIEW countersign.periods AS SELECT * FROM countersign.period;
CREATE VIEW countersign.pictures AS
    SELECT p.name, p.media_type, length(p.bytes) AS size, p.sha256, p.page_width, p.page_height, p.added_at, p.added_by FROM countersign.picture p;

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA countersign FROM PUBLIC;
REVOKE ALL ON ALL TABLES IN SCHEMA countersign FROM PUBLIC;
REVOKE ALL ON ALL SEQUENCES IN SCHEMA countersign FROM PUBLIC;
GRANT EXECUTE ON FUNCTION countersign.lease, countersign.overview, countersign.close_overview, countersign.history, countersign.picture_of TO countersign_reviewer;
GRANT EXECUTE ON FUNCTION countersign.picture_add TO countersign_producer, countersign_supervisor;
GRANT EXECUTE ON FUNCTION countersign.period_add, countersign.period_deadline, countersign.recount TO countersign_supervisor;
GRANT SELECT ON countersign.pictures TO countersign_supervisor, countersign_auditor;

RESET ROLE;
