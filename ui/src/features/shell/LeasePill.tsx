import { Menu, MenuItem, MenuTrigger, Popover } from "react-aria-components";
import { clockText, minuteText, useSecondsUntil } from "../../components/clock";
import type { SessionView } from "../../generated/SessionView";
import type { Timed } from "../../ipc/reads";
import { returnUnfinished, takeOffline } from "../offline/offline-store";
import { useExtend } from "../offline/use-extend";
import styles from "./LeasePill.module.css";
import { PillButton } from "./PillButton";

/** From here on a lease may lapse before a batch is read and signed. */
const LEASE_WARNING_S = 120;

/** How long the leases stand, and what can be done about it. */
export function LeasePill({ session: { value, askedAtMs } }: { session: Timed<SessionView> }) {
  const left = value.lease_ends_in_ms;
  const seconds = useSecondsUntil(left === null ? null : askedAtMs + left);
  const { extending, extend } = useExtend();
  const late = seconds !== null && seconds < LEASE_WARNING_S;
  const none = value.deck_count === 0;
  return (
    <span
      className={styles.frame}
      title="Until the first lease lapses; it is renewed while the database can be reached"
    >
      <MenuTrigger>
        <PillButton data-testid="lease-pill" tone={late ? "warn" : "plain"}>
          <span className={styles.count}>{leaseText(seconds, value.offline_until)}</span>
        </PillButton>
        <Popover>
          <Menu
            className={styles.menu}
            aria-label="Leases"
            disabledKeys={none ? ["extend", "take", "return"] : extending ? ["extend"] : []}
          >
            <MenuItem id="extend" className={styles.item} onAction={extend}>
              Extend the leases
            </MenuItem>
            <MenuItem
              id="take"
              className={styles.item}
              onAction={takeOffline}
              data-testid="menu-take-offline"
            >
              Take work offline…
            </MenuItem>
            <MenuItem
              id="return"
              className={styles.item}
              onAction={returnUnfinished}
              data-testid="menu-return"
            >
              Return what I won’t finish…
            </MenuItem>
          </Menu>
        </Popover>
      </MenuTrigger>
    </span>
  );
}

function leaseText(seconds: number | null, offlineUntil: string | null): string {
  if (seconds === null) return "No leases";
  if (seconds === 0) return "Leases lapsed";
  if (offlineUntil !== null) return `Offline work until ${minuteText(offlineUntil, Date.now())}`;
  return `Leases ${clockText(seconds)}`;
}
