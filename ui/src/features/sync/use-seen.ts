import { useEffect } from "react";
import { useSync } from "./sync-store";

/** Remembers which rows of `frame` (marked with `data-seen`) have been on the reviewer's screen, by `revision` of the list. */
export function useSeen(frame: React.RefObject<HTMLElement | null>, revision: string) {
  const see = useSync((state) => state.see);
  // biome-ignore lint/correctness/useExhaustiveDependencies: other rows are in the document when the list is another one.
  useEffect(() => {
    const root = frame.current;
    if (root === null) return;
    const observer = new IntersectionObserver(
      (entries) =>
        see(
          entries
            .filter(({ isIntersecting }) => isIntersecting)
            .map(({ target }) => target.getAttribute("data-seen") ?? ""),
        ),
      { root, threshold: 0.5 },
    );
    for (const row of root.querySelectorAll("[data-seen]")) observer.observe(row);
    return () => observer.disconnect();
  }, [frame, revision, see]);
}
