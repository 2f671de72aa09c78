-- A decision takes the place of what was refused of the same exception: it is found without reading the outbox.
CREATE INDEX outbox_refused ON outbox (exception_id) WHERE stage = 'REFUSED';
