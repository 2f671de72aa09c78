import { useMemo } from "react";
import { Button } from "../../components/Button";
import { Text } from "../../components/Text";
import { visibleText } from "../../components/visible-text";
import type { DeckRow } from "../../generated/DeckRow";
import type { EffectLine } from "../../generated/EffectLine";
import { useDeck } from "../../ipc/reads";
import styles from "./Effects.module.css";
import type { TypedFigure, TypedFigures } from "./figures";

interface EffectsProps {
  effects: readonly EffectLine[];
  typed: TypedFigures;
  /** What was typed and does not read, and why. */
  unread: ReadonlyMap<string, string>;
  /** What the workstation says of the last attempt. */
  problem: string | null;
  onType: (id: string, figure: TypedFigure | null) => void;
}

/** What the decision does to the books, where that is more than the variance; what was read from a receipt can be corrected. */
export function Effects({ effects, typed, unread, problem, onType }: EffectsProps) {
  const deck = useDeck();
  const rows = useMemo(() => new Map((deck.data?.value.rows ?? []).map((row) => [row.id, row])), [deck.data]);
  if (effects.length === 0) return null;
  return (
    <section className={styles.effects} aria-label="What it does" data-testid="effects">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by the keyboard */}
      <ul className={styles.list} tabIndex={0} aria-label="Effects, one by one">
        {effects.map((effect) => (
          <Effect
            key={effect.id}
            effect={effect}
            row={rows.get(effect.id) ?? null}
            typed={typed.get(effect.id) ?? null}
            unread={unread.get(effect.id) ?? null}
            onType={(figure) => onType(effect.id, figure)}
          />
        ))}
      </ul>
      {problem !== null && (
        <p className={styles.problem} role="alert" data-testid="figure-problem">
          {visibleText(problem)}
        </p>
      )}
    </section>
  );
}

interface EffectProps {
  effect: EffectLine;
  row: DeckRow | null;
  typed: TypedFigure | null;
  unread: string | null;
  onType: (figure: TypedFigure | null) => void;
}

function Effect({ effect: { id, words, read }, row, typed, unread, onType }: EffectProps) {
  const who = visibleText(row?.counterparty ?? id);
  return (
    <li className={styles.effect} data-testid={`effect-${id}`}>
      <Text text={row?.counterparty ?? id} />
      <span className={styles.words}>
        {visibleText(words)}
        {read !== null && <span className={styles.read}> · read as {visibleText(read)}</span>}
      </span>
      {read !== null && typed === null && (
        <Button
          look="quiet"
          aria-label={`Correct the amount of ${who}`}
          onPress={() => onType({ amount: "", currency: row?.currency ?? "" })}
          data-testid={`figure-${id}-open`}
        >
          Correct…
        </Button>
      )}
      {typed !== null && (
        <span className={styles.figure}>
          <input
            className={styles.amount}
            // biome-ignore lint/a11y/noAutofocus: it was asked for
            autoFocus
            inputMode="decimal"
            autoComplete="off"
            spellCheck={false}
            maxLength={60}
            aria-label={`Corrected amount of ${who}`}
            aria-invalid={(unread !== null && typed.amount.trim() !== "") || undefined}
            aria-describedby={unread === null ? undefined : `figure-${id}-note`}
            value={typed.amount}
            onChange={(event) => onType({ ...typed, amount: event.target.value })}
            data-testid={`figure-${id}-amount`}
          />
          <input
            className={styles.currency}
            autoComplete="off"
            spellCheck={false}
            maxLength={3}
            aria-label={`Currency of ${who}`}
            value={typed.currency}
            onChange={(event) => onType({ ...typed, currency: event.target.value })}
            data-testid={`figure-${id}-currency`}
          />
          <Button look="quiet" aria-label={`As read: ${who}`} onPress={() => onType(null)}>
            As read
          </Button>
          {unread !== null && (
            <span id={`figure-${id}-note`} className={styles.note}>
              {visibleText(unread)}
            </span>
          )}
        </span>
      )}
    </li>
  );
}
