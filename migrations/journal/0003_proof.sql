-- What proves a decision: the policy it was made under, and its seal as JSON. A decision of an earlier release has none until it is
-- sent.
ALTER TABLE outbox ADD COLUMN policy_version INTEGER NOT NULL DEFAULT 0;
ALTER TABLE outbox ADD COLUMN seal TEXT;
-- Policy and rights as they were last heard of, as JSON.
ALTER TABLE identity ADD COLUMN standing TEXT;
