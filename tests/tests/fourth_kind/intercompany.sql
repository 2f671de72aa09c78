-- A fourth kind in one migration: what docs/adding-a-kind.md asks for, for a kind that nobody ships.

SET LOCAL ROLE countersign_owner;

ALTER TABLE countersign.exception DROP CONSTRAINT exception_kind_check,
    ADD CONSTRAINT exception_kind_check CHECK (kind IN ('recon_break', 'sales_claim', 'receipt', 'intercompany'));
ALTER TABLE countersign.reviewer DROP CONSTRAINT reviewer_kinds_check,
    ADD CONSTRAINT reviewer_kinds_check CHECK (kinds <@ ARRAY['recon_break', 'sales_claim', 'receipt', 'intercompany']);

CREATE OR REPLACE FUNCTION countersign.kind_bit(kind text) RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE kind WHEN 'recon_break' THEN 1 WHEN 'sales_claim' THEN 2 WHEN 'receipt' THEN 4 WHEN 'intercompany' THEN 8 ELSE 0 END;

CREATE OR REPLACE FUNCTION countersign.effect_of(kind text, decision text, reversal boolean) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN reversal THEN CASE decision WHEN 'APPROVE' THEN 'POSTING' ELSE 'ROUTING' END
    WHEN kind IN ('recon_break', 'intercompany') THEN CASE decision WHEN 'APPROVE' THEN 'POSTING' ELSE 'ROUTING' END
    WHEN kind = 'sales_claim' THEN CASE decision WHEN 'APPROVE' THEN 'POSTING' ELSE 'DISPUTE' END
    WHEN kind = 'receipt' THEN 'ROUTING'
    ELSE countersign.unknown_kind(kind) END;

CREATE OR REPLACE FUNCTION countersign.routed_to(kind text, decision text, reversal boolean) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN kind = 'receipt' AND NOT reversal THEN CASE decision WHEN 'APPROVE' THEN 'policy validation' ELSE 'submitter' END
            WHEN kind = 'intercompany' AND NOT reversal THEN 'group accounting'
            ELSE 'matching team' END;

-- What lists the kinds, and its own gates. Each definition is edited as it stands; one that does not say what is expected stops the migration.
DO $$
DECLARE
    v_edit record;
    v_function record;
    v_edited integer;
BEGIN
    FOR v_edit IN SELECT * FROM (VALUES
        ('''recon_break'', ''sales_claim'', ''receipt''', '''recon_break'', ''sales_claim'', ''receipt'', ''intercompany'''),
        ('v_who.kinds IS NULL THEN 7 ', 'v_who.kinds IS NULL THEN 15 '),
        ('WHEN i.d ->> ''reverses'' IS NOT NULL THEN NULL',
         'WHEN i.d ->> ''kind'' = ''intercompany'' THEN CASE
                WHEN jsonb_typeof(i.d -> ''payload'' -> ''owed_by'') IS DISTINCT FROM ''string'' THEN ARRAY[''payload.owed_by'', ''FIELD'', ''a text is expected'']
                WHEN jsonb_typeof(i.d -> ''payload'' -> ''owed_to'') IS DISTINCT FROM ''string'' THEN ARRAY[''payload.owed_to'', ''FIELD'', ''a text is expected'']
                WHEN jsonb_typeof(i.d -> ''payload'' -> ''day'') IS DISTINCT FROM ''string'' THEN ARRAY[''payload.day'', ''FIELD'', ''a text is expected'']
                WHEN i.d ->> ''reverses'' IS NULL AND i.d ->> ''idempotency_key'' <> encode(sha256(convert_to((i.d -> ''payload'' ->> ''owed_by'') || ''|''
                        || (i.d -> ''payload'' ->> ''owed_to'') || ''|'' || (i.d -> ''payload'' ->> ''day''), ''UTF8'')), ''hex'')
                    THEN ARRAY[''idempotency_key'', ''KEY'', ''the SHA-256 of owed_by|owed_to|day is expected'']
                END
            WHEN i.d ->> ''reverses'' IS NOT NULL THEN NULL')
    ) AS e (says, shall) LOOP
        v_edited := 0;
        FOR v_function IN SELECT p.oid FROM pg_proc p WHERE p.pronamespace = 'countersign'::regnamespace AND p.prokind = 'f'
                          AND strpos(pg_get_functiondef(p.oid), v_edit.says) > 0 LOOP
            EXECUTE replace(pg_get_functiondef(v_function.oid), v_edit.says, v_edit.shall);
            v_edited := v_edited + 1;
        END LOOP;
        IF v_edited = 0 THEN
            RAISE EXCEPTION 'no function says %', v_edit.says;
        END IF;
    END LOOP;
END $$;

RESET ROLE;
