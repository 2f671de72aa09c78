import type { SessionView } from "../../generated/SessionView";
import { useOffline } from "./offline-store";
import { ReturnDialog } from "./ReturnDialog";
import { TakeOfflineDialog } from "./TakeOfflineDialog";

/** Whichever of the two is open. */
export function OfflineDialogs({ session }: { session: SessionView }) {
  const dialog = useOffline((state) => state.dialog);
  if (dialog === "take") return <TakeOfflineDialog session={session} />;
  return dialog === "return" ? <ReturnDialog /> : null;
}
