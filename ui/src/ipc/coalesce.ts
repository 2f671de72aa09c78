/**
 * Runs `work` once at a time. A request that comes while it runs causes exactly one more run afterwards, so that a stream of
 * changes neither starves a slow read by restarting it nor leaves the last change unread.
 */
export function coalesce(work: () => Promise<unknown>): () => void {
  let running = false;
  let again = false;
  const run = async () => {
    running = true;
    try {
      do {
        again = false;
        await work().catch(() => undefined);
      } while (again);
    } finally {
      running = false;
    }
  };
  return () => {
    if (running) again = true;
    else void run();
  };
}
