import { useId, useState } from "react";
import { Button } from "react-aria-components";
import { instantText } from "../../components/clock";
import { visibleText } from "../../components/visible-text";
import type { PreflightGroup } from "../../generated/PreflightGroup";
import type { PreflightView } from "../../generated/PreflightView";
import styles from "./Preflight.module.css";
import { PreflightList } from "./PreflightList";

interface PreflightProps {
  view: PreflightView | null;
  /** Why nothing is foreseen. */
  problem: string | null;
}

/** What will become of the batch, as far as it can be foreseen; each part opens to its list. */
export function Preflight({ view, problem }: PreflightProps) {
  const [open, setOpen] = useState<string | null>(null);
  const listId = useId();
  const shown = view?.groups.find(({ outcome }) => outcome === open) ?? null;
  return (
    <section className={styles.preflight} aria-label="What is foreseen" data-testid="preflight">
      <div className={styles.groups}>
        {problem !== null && view === null && (
          <span className={styles.note}>It cannot be foreseen what will happen: {visibleText(problem)}</span>
        )}
        {view?.groups.map((group) => (
          <Group
            key={group.outcome}
            group={group}
            open={group === shown}
            listId={listId}
            onToggle={() => setOpen(group === shown ? null : group.outcome)}
          />
        ))}
      </div>
      {shown !== null && <PreflightList id={listId} group={shown} />}
      {view !== null && view.stale !== null && (
        <p className={styles.note} data-testid="preflight-stale">
          {visibleText(view.stale)}: {instantText(view.as_of, Date.now())}.
        </p>
      )}
    </section>
  );
}

interface GroupProps {
  group: PreflightGroup;
  open: boolean;
  listId: string;
  onToggle: () => void;
}

function Group({ group, open, listId, onToggle }: GroupProps) {
  return (
    <Button
      className={styles.group}
      aria-expanded={open}
      aria-controls={open ? listId : undefined}
      data-accepted={group.accepted}
      data-testid={`preflight-${group.outcome}`}
      onPress={onToggle}
    >
      {visibleText(group.label)}
      <span aria-hidden="true">{open ? "▴" : "▾"}</span>
    </Button>
  );
}
