import { Toasts } from "./components/Toasts";
import { BatchReceipt } from "./features/batches/BatchReceipt";
import { ConnectScreen } from "./features/connect/ConnectScreen";
import { DrainDialog } from "./features/drain/DrainDialog";
import { useFrame } from "./features/shell/frame-store";
import { Shell } from "./features/shell/Shell";
import { StartFailure } from "./features/shell/StartFailure";
import { useFollowChanges, useSession } from "./ipc/reads";

export function App() {
  const session = useSession();
  const worksOffline = useFrame((state) => state.worksOffline);
  const followDrain = useFrame((state) => state.followDrain);
  useFollowChanges(followDrain);
  return (
    <>
      <Body session={session} worksOffline={worksOffline} />
      <BatchReceipt />
      <Toasts />
      <DrainDialog />
    </>
  );
}

function Body({ session, worksOffline }: { session: ReturnType<typeof useSession>; worksOffline: boolean }) {
  if (session.data === undefined) {
    return session.error === null ? null : (
      <StartFailure error={session.error} onRetry={() => void session.refetch()} />
    );
  }
  const { value } = session.data;
  if (value.needs !== "NOTHING" && !worksOffline) return <ConnectScreen session={value} />;
  return <Shell session={session.data} />;
}
