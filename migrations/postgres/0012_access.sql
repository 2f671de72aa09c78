-- Who may call what, and what auditors see.

SET LOCAL ROLE countersign_owner;

-- Read-only, and of the owner's rights: an auditor needs none on the tables. No view shows the parts of a secret key.
CREATE VIEW countersign.audit_events AS SELECT * FROM countersign.audit_event;
CREATE VIEW countersign.chain_heads AS
    SELECT '' AS partition_key, i.chain_seq, i.chain_head FROM countersign.installation i
    UNION ALL SELECT p.partition_key, p.chain_seq, p.chain_head FROM countersign.partition p;
CREATE VIEW countersign.installations AS SELECT i.id, i.created_at, i.chain_seq, i.chain_head FROM countersign.installation i;
CREATE VIEW countersign.partitions AS SELECT * FROM countersign.partition;
CREATE VIEW countersign.exceptions AS SELECT * FROM countersign.exception;
CREATE VIEW countersign.exception_contents AS SELECT * FROM countersign.exception_content;
CREATE VIEW countersign.sign_offs AS SELECT * FROM countersign.sign_off;
CREATE VIEW countersign.postings AS SELECT * FROM countersign.posting;
CREATE VIEW countersign.routings AS SELECT * FROM countersign.routing;
CREATE VIEW countersign.receipts AS SELECT * FROM countersign.receipt;
CREATE VIEW countersign.dead_letters AS SELECT * FROM countersign.dead_letter;
CREATE VIEW countersign.policies AS SELECT * FROM countersign.policy_version;
CREATE VIEW countersign.periods AS SELECT * FROM countersign.period;
CREATE VIEW countersign.reviewers AS SELECT * FROM countersign.reviewer;
CREATE VIEW countersign.reviewer_limits AS SELECT * FROM countersign.reviewer_limit;
CREATE VIEW countersign.reviewer_usages WITH (security_barrier) AS SELECT * FROM countersign.reviewer_usage u WHERE u.period <> '';
CREATE VIEW countersign.workstations AS SELECT * FROM countersign.workstation;
CREATE VIEW countersign.workstation_keys AS
    SELECT k.workstation, k.enrolment, k.public_key, k.requested_at, k.confirmed_at, k.confirmed_by FROM countersign.workstation_key k;
CREATE VIEW countersign.audit_keys AS SELECT k.id, k.made_at, k.made_by, k.retired_at FROM countersign.audit_key k;
CREATE VIEW countersign.setting_versions AS SELECT * FROM countersign.setting_version;

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA countersign FROM PUBLIC;
REVOKE ALL ON ALL TABLES IN SCHEMA countersign FROM PUBLIC;
REVOKE ALL ON ALL SEQUENCES IN SCHEMA countersign FROM PUBLIC;
GRANT EXECUTE ON FUNCTION countersign.hello, countersign.enrol, countersign.lease, countersign.renew, countersign.release, countersign.hand_over,
    countersign.sign_off, countersign.workstation_revoke TO countersign_reviewer;
GRANT EXECUTE ON FUNCTION countersign.enqueue, countersign.dead_letter TO countersign_producer;
GRANT EXECUTE ON FUNCTION countersign.reviewer_set, countersign.reviewer_disable, countersign.reviewer_limit_set, countersign.policy_set,
    countersign.period_add, countersign.period_move, countersign.workstation_confirm, countersign.workstation_revoke, countersign.partition_assign,
    countersign.enqueue TO countersign_supervisor;
-- What a supervisor decides on: everything but what only an auditor compares.
GRANT SELECT ON countersign.installations, countersign.partitions, countersign.exceptions, countersign.exception_contents, countersign.dead_letters,
    countersign.policies, countersign.periods, countersign.reviewers, countersign.reviewer_limits, countersign.reviewer_usages, countersign.workstations,
    countersign.workstation_keys, countersign.sign_offs, countersign.postings, countersign.routings TO countersign_supervisor;
GRANT SELECT ON countersign.audit_events, countersign.chain_heads, countersign.installations, countersign.partitions, countersign.exceptions,
    countersign.exception_contents, countersign.sign_offs, countersign.postings, countersign.routings, countersign.receipts, countersign.dead_letters,
    countersign.policies, countersign.periods, countersign.reviewers, countersign.reviewer_limits, countersign.reviewer_usages, countersign.workstations,
    countersign.workstation_keys, countersign.audit_keys, countersign.setting_versions TO countersign_auditor;
GRANT EXECUTE ON FUNCTION countersign.mac_holds, countersign.audit_record, countersign.receipt_seal TO countersign_auditor;

RESET ROLE;
