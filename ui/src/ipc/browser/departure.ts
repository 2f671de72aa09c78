import type { ExportView } from "../../generated/ExportView";
import type { LeavingView } from "../../generated/LeavingView";

const MESSAGES = {
  REVOKED:
    "This workstation was revoked in close on ledger.example.internal. What it had leased was removed from it; ask a supervisor how to go on.",
  SIGNED_OUT:
    "What was leased went back to your colleagues. What was leased or answered was removed from this computer.",
};

export function leavingOf(reason: LeavingView["reason"], profile: string, unsent: number): LeavingView {
  return { reason, profile, message: MESSAGES[reason], unsent, export: null };
}

export function exportOf(count: number): ExportView {
  return {
    path: "/home/reviewer-12/Documents/countersign-unsent-month-end-close-5c1f09ab77e04d12-20261005T081500123Z.jsonl",
    count,
    sha256: "9f2d4c61b7a85e03d1c94b2f6a7e80135d92c4b8f1a06e7733c5d8e20b94af16",
  };
}
