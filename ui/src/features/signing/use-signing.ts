import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { readDecimal, useNumberFormat } from "../../components/number-format";
import type { PolicyView } from "../../generated/PolicyView";
import { toCommandError, useIpc } from "../../ipc/ipc";
import { type Batch, useReview } from "../review/review-store";
import { retain } from "../review/selection";
import type { TypedFigure } from "./figures";
import { useAnnounce } from "./use-announce";
import { type Draft, useDraft } from "./use-draft";
import { useFrozenList } from "./use-frozen-list";
import { confirmWords, whyIncomplete } from "./why-incomplete";

interface SigningProps {
  batch: Batch;
  policy: PolicyView | null;
  brought: Draft | null;
  onClose: () => void;
}

/** All that the dialog shows and can do. What is signed is what is shown: the frozen list, its hash total, and the policy's version. */
export function useSigning({ batch, policy, brought, onClose }: SigningProps) {
  const ipc = useIpc();
  const client = useQueryClient();
  const announce = useAnnounce();
  const format = useNumberFormat();
  const list = useFrozenList(batch);
  const { figures, unread, corrected, setCorrected } = list;
  const writing = useDraft(batch.decision, brought);
  const [typed, setTyped] = useState<Record<string, string>>({});
  const [figureProblem, setFigureProblem] = useState<string | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const [mismatch, setMismatch] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);

  const rejects = batch.decision === "REJECT";
  const view = list.preflight.data;
  const { counted } = list;
  const asked = view?.type_totals ?? [];
  const nets = asked.map((currency) => {
    const { value, problem } = readDecimal(typed[currency] ?? "", format);
    return { currency, net: value, problem };
  });
  const untyped = nets.filter(({ net }) => net === null).map(({ currency }) => currency);
  const version = view?.policy_version ?? policy?.version ?? null;
  const missing = whyIncomplete({
    rejects,
    reason: writing.draft.reason,
    asked: list.ids.length,
    leftOut: list.leftOut.size,
    totals: counted,
    untyped,
    unreadFigures: unread.size,
    foreseeing: list.preflight.isPending && list.ids.length > 0,
    lawless: version === null,
  });

  const fail = (thrown: unknown) => {
    const { code, message } = toCommandError(thrown);
    setBusy(false);
    // The usual cause is a deck that changed meanwhile; the reviewer sees the new totals before the next attempt.
    void list.totals.refetch();
    if (code === "TOTAL_MISMATCH") return setMismatch(message);
    if (code.startsWith("FIGURE")) return setFigureProblem(message);
    if (code !== "POLICY_CHANGED") return setProblem(message);
    setProblem(
      `${message} What is foreseen was read again: look at it, and at what you attest, before you sign.`,
    );
    void list.preflight.refetch();
    void client.invalidateQueries({ queryKey: ["session"] });
  };

  const sign = async () => {
    if (busy || counted === undefined || missing !== null || version === null) return;
    setBusy(true);
    setProblem(null);
    setMismatch(null);
    setFigureProblem(null);
    const askedAtMs = performance.now();
    const gone = new Set(counted.missing);
    const ids = list.ids.filter((id) => !gone.has(id));
    const comment = writing.draft.comment.trim();
    try {
      const receipt = await ipc.sign({
        ids,
        decision: batch.decision,
        reason: writing.draft.reason,
        comment: comment === "" ? null : comment,
        hash_total: counted.hash_total,
        policy_version: version,
        typed_totals: nets.flatMap(({ currency, net }) => (net === null ? [] : [{ currency, net }])),
        figures: figures.filter(({ id }) => !gone.has(id)),
      });
      writing.forget();
      const signed = new Set(ids);
      // What was left out, or was selected apart from this batch, stays selected.
      useReview
        .getState()
        .select((now) => retain(now, new Set([...now.selected].filter((id) => !signed.has(id)))));
      onClose();
      announce(receipt, askedAtMs);
      for (const key of ["deck", "outbox", "session", "batches"]) {
        void client.invalidateQueries({ queryKey: [key] });
      }
    } catch (thrown) {
      fail(thrown);
    }
  };

  const refused = view?.groups.filter(({ accepted }) => !accepted).flatMap(({ ids }) => ids) ?? [];
  return {
    list,
    writing,
    rejects,
    view,
    missing,
    busy,
    problem: problem ?? list.totals.error?.message ?? null,
    sign,
    words: confirmWords(rejects, counted?.count ?? null, view),
    refused: refused.length,
    leaveOut: () => {
      // Nothing of a group is signed without the rest of it.
      if (refused.length > 0) list.leaveOut(refused);
      else if (list.leftOut.size > 0) list.leaveOut(counted?.split_groups ?? []);
    },
    figures: {
      effects: view?.effects ?? [],
      typed: corrected,
      unread,
      problem: figureProblem,
      onType: (id: string, figure: TypedFigure | null) => {
        setFigureProblem(null);
        setCorrected((before) => {
          const after = new Map(before);
          if (figure === null) after.delete(id);
          else after.set(id, figure);
          return after;
        });
      },
    },
    typing: {
      currencies: asked,
      typed,
      unread: nets.flatMap(({ currency, problem }) =>
        problem === null || (typed[currency] ?? "").trim() === "" ? [] : [{ currency, problem }],
      ),
      problem: mismatch,
      onChange: (currency: string, text: string) => {
        setMismatch(null);
        setTyped((before) => ({ ...before, [currency]: text }));
      },
    },
  };
}
