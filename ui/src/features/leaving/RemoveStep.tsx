import { useState } from "react";
import { Button } from "../../components/Button";
import panel from "../../components/panel.module.css";
import { counted } from "../../components/plural";
import { visibleText } from "../../components/visible-text";
import { Window } from "../../components/Window";
import type { ExportView } from "../../generated/ExportView";
import styles from "./LeavingPanel.module.css";

interface RemoveStepProps {
  profile: string;
  unsent: number;
  found: ExportView | null;
  busy: boolean;
  onRemove: (acknowledged: string | null) => void;
}

/** The end of a profile on this computer. With unsent decisions it takes their export and a word that it was seen. */
export function RemoveStep({ profile, unsent, found, busy, onRemove }: RemoveStepProps) {
  const [acknowledged, setAcknowledged] = useState(false);
  const [asking, setAsking] = useState(false);
  const ready = unsent === 0 || (found !== null && acknowledged);
  return (
    <div className={styles.step}>
      {unsent > 0 && found !== null && (
        <label className={panel.check}>
          <input
            type="checkbox"
            checked={acknowledged}
            onChange={(event) => setAcknowledged(event.target.checked)}
            data-testid="acknowledge-export"
          />
          <span>
            I have the export of {counted(found.count, "decision")} with the digest{" "}
            <code>{visibleText(found.sha256.slice(0, 16))}…</code>, and know that they are nowhere else.
          </span>
        </label>
      )}
      <div className={panel.actions}>
        <Button
          isDisabled={!ready}
          isBusy={busy}
          onPress={() => setAsking(true)}
          title={ready ? undefined : "Unsent decisions are exported first"}
          data-testid="remove-everything"
        >
          Remove everything from this computer
        </Button>
        <span className={panel.hint}>The journal, its keys and the kept password.</span>
      </div>
      {asking && (
        <Window
          title={`Remove everything of ${visibleText(profile)}`}
          role="alertdialog"
          onClose={() => setAsking(false)}
          data-testid="remove-dialog"
        >
          <p>
            The journal, the keys and the password of this connection are destroyed. This cannot be taken
            back; to work here again, a supervisor has to confirm a new key.
          </p>
          {unsent > 0 && <p>{counted(unsent, "unsent decision")} will exist in the export only.</p>}
          <div className={panel.end}>
            <Button autoFocus shortcut="Esc" onPress={() => setAsking(false)}>
              Cancel
            </Button>
            <Button
              look="primary"
              onPress={() => {
                setAsking(false);
                onRemove(found?.sha256 ?? null);
              }}
              data-testid="remove-confirm"
            >
              Remove everything
            </Button>
          </div>
        </Window>
      )}
    </div>
  );
}
