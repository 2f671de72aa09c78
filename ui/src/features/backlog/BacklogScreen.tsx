import { useRef } from "react";
import { Button } from "../../components/Button";
import { instantText } from "../../components/clock";
import { visibleText } from "../../components/visible-text";
import { useBacklog } from "../../ipc/reads";
import styles from "./BacklogScreen.module.css";
import { BacklogTable } from "./BacklogTable";
import { useBacklogChoice } from "./backlog-store";
import { FocusPanel } from "./FocusPanel";

/** What is pending, and what of it fills the deck. */
export function BacklogScreen() {
  const backlog = useBacklog();
  const { filter, setFilter } = useBacklogChoice();
  const filterInput = useRef<HTMLInputElement>(null);
  const table = useRef<HTMLDivElement>(null);
  const view = backlog.data;
  const toTable = () => table.current?.querySelector<HTMLElement>('[data-item][tabindex="0"]')?.focus();
  return (
    <div className={styles.screen} data-testid="backlog">
      <div className={styles.bar}>
        <input
          ref={filterInput}
          className={styles.filter}
          value={filter}
          placeholder="Filter"
          aria-label="Filter by entity, tier, kind or currency"
          autoComplete="off"
          spellCheck={false}
          onChange={(event) => setFilter(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === "Escape" && filter !== "") setFilter("");
            else if (["Escape", "Enter", "ArrowDown"].includes(event.key)) toTable();
            else return;
            event.preventDefault();
          }}
          data-testid="backlog-filter"
        />
        <p className={styles.counts}>
          <b>{view?.free ?? 0}</b> free · <b>{view?.held ?? 0}</b> held · <b>{view?.mine ?? 0}</b> mine
        </p>
        <p className={styles.state} data-stale={view !== undefined && view.stale !== null}>
          {view !== undefined && (
            <>
              {view.stale !== null && `${visibleText(view.stale)} · `}
              as of {instantText(view.as_of, Date.now())}
            </>
          )}
        </p>
        <Button isDisabled={backlog.isFetching} onPress={() => void backlog.refetch()} data-testid="refresh">
          Refresh
        </Button>
      </div>
      {backlog.error !== null && view !== undefined && (
        // What was read before stays in sight.
        <p className={styles.failure} role="alert">
          The backlog cannot be read anew: {visibleText(backlog.error.message)}
        </p>
      )}
      <div className={styles.work}>
        <BacklogTable
          ref={table}
          view={view ?? null}
          failure={view === undefined ? (backlog.error?.message ?? null) : null}
          onRetry={() => void backlog.refetch()}
          onFilter={() => filterInput.current?.focus()}
        />
        <FocusPanel lines={view?.lines ?? []} />
      </div>
    </div>
  );
}
