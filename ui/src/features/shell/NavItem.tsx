import { Button } from "react-aria-components";
import { type Screen, useFrame } from "./frame-store";
import styles from "./Nav.module.css";

/** Drawn in a square of 16; a narrow window shows little more than these. */
const ICONS: Record<Screen, string> = {
  review: "M2.5 4.5l1.2 1.2L6 3.4M2.5 11l1.2 1.2L6 9.9M8.5 4.5h5M8.5 11h5",
  backlog: "M2.5 3.5h11M2.5 8h8M2.5 12.5h5",
  sync: "M3 6.5A5.3 5.3 0 0 1 13 6M13 2.8V6H9.8M13 9.5A5.3 5.3 0 0 1 3 10M3 13.2V10h3.2",
  letters: "M2.5 3.5h11v9h-11zM2.5 4l5.5 5 5.5-5",
  close: "M2.5 2.5v11h11M5 5l3 3.5 2-1.5 3.5 4",
  settings: "M2.5 4.5h6M12 4.5h1.5M2.5 11.5H4M7.5 11.5h6M10.2 2.9v3.2M5.8 9.9v3.2",
};

interface NavItemProps {
  screen: Screen;
  label: string;
  counts?: readonly { count: number; meaning: string; attention?: boolean }[];
}

export function NavItem({ screen, label, counts = [] }: NavItemProps) {
  const shown = useFrame((state) => state.screen === screen);
  const show = useFrame((state) => state.show);
  const told = counts.filter(({ count }) => count > 0);
  return (
    <Button
      className={styles.item}
      aria-current={shown ? "page" : undefined}
      data-testid={`nav-${screen}`}
      onPress={() => show(screen)}
    >
      <svg className={styles.icon} viewBox="0 0 16 16" aria-hidden="true">
        <path d={ICONS[screen]} />
      </svg>
      <span className={styles.label}>{label}</span>
      <span className={styles.counts}>
        {told.map(({ count, meaning, attention = false }) => (
          <em
            key={meaning}
            title={`${count} ${meaning}`}
            className={attention ? styles.attention : undefined}
          >
            <span aria-hidden="true">{attention ? `${count} !` : count}</span>
            <span className={styles.spoken}>
              {count} {meaning}
            </span>
          </em>
        ))}
      </span>
    </Button>
  );
}
