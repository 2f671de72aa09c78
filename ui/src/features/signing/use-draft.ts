import { useState } from "react";
import { uiState } from "../../components/ui-state";
import type { DecisionChoice } from "../../generated/DecisionChoice";

const NAME = "sign-draft";

export interface Draft {
  reason: string | null;
  comment: string;
}

const EMPTY: Draft = { reason: null, comment: "" };

function isEmpty({ reason, comment }: Draft): boolean {
  return reason === null && comment === "";
}

function kept(decision: DecisionChoice): Draft | null {
  return uiState.read(NAME, (value) => {
    if (typeof value !== "object" || value === null) return null;
    const { decision: of, reason, comment } = value as Record<string, unknown>;
    if (of !== decision || typeof comment !== "string") return null;
    return { reason: typeof reason === "string" ? reason : null, comment };
  });
}

/**
 * The reason and the comment while they are written. They outlive the dialog and the window until the batch is signed; where
 * something was brought back, that is known, because it may have been meant for another batch. What a file brought along stays in
 * the file.
 */
export function useDraft(decision: DecisionChoice, brought: Draft | null) {
  const [draft, setDraft] = useState<Draft>(() => brought ?? kept(decision) ?? EMPTY);
  const [restored, setRestored] = useState(brought === null && !isEmpty(draft));
  const write = (next: Draft) => {
    setDraft(next);
    if (brought === null) uiState.write(NAME, isEmpty(next) ? null : { decision, ...next });
  };
  return {
    draft,
    restored,
    change: (part: Partial<Draft>) => write({ ...draft, ...part }),
    clear: () => {
      setRestored(false);
      write(EMPTY);
    },
    /** The batch is signed: what was written is in it. */
    forget: () => {
      if (brought === null) uiState.write(NAME, null);
    },
  };
}
