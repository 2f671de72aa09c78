-- The figure that a decision carries, as JSON: what an approval of a sales claim posts, or the corrected amount of a receipt. It is part
-- of what is signed, so that a decision without one stays as it was sealed.
ALTER TABLE outbox ADD COLUMN figure TEXT;
ALTER TABLE superseded ADD COLUMN figure TEXT;
