import { useEffect, useId } from "react";
import styles from "./Detail.module.css";
import { useSections } from "./sections-store";

interface SectionProps {
  /** Names it in what is remembered. */
  name: string;
  title: string;
  /** How it is until the reviewer changes it. */
  startsOpen?: boolean;
  children: React.ReactNode;
}

/** A part of the detail that opens and closes. What is in it is drawn, and read, only while it is open. */
export function Section({ name, title, startsOpen = true, children }: SectionProps) {
  const load = useSections((state) => state.load);
  const open = useSections((state) => state.opened?.[name]) ?? startsOpen;
  const setOpen = useSections((state) => state.setOpen);
  const contentId = useId();
  useEffect(load, [load]);
  return (
    <section className={styles.card} data-testid={`section-${name}`}>
      <h3>
        <button
          type="button"
          className={styles.toggle}
          aria-expanded={open}
          aria-controls={open ? contentId : undefined}
          onClick={() => setOpen(name, !open)}
        >
          <span aria-hidden="true">{open ? "▾" : "▸"}</span> {title}
        </button>
      </h3>
      {open && (
        <div id={contentId} className={styles.content}>
          {children}
        </div>
      )}
    </section>
  );
}
