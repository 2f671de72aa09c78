-- Dismissed refusals have a bound, as accepted decisions do: the oldest are found without reading the outbox.
CREATE INDEX outbox_dismissed ON outbox (settled_at_us, ordinal) WHERE dismissed = 1;
