import { Button } from "../../components/Button";
import { instantText, useSecondsUntil } from "../../components/clock";
import { Dot, Pill } from "../../components/Pill";
import { visibleText } from "../../components/visible-text";
import type { SessionView } from "../../generated/SessionView";
import type { Timed } from "../../ipc/reads";
import { useFrame } from "./frame-store";
import styles from "./HeaderPills.module.css";

export function DeckPill({ session }: { session: SessionView }) {
  const { deck_count: count, queue_maxsize: bound, saturated, scoring } = session;
  const paused = saturated ? (count >= bound ? " · full, leasing paused" : " · leasing paused") : "";
  const words = `Deck ${count} of ${bound}${scoring > 0 ? ` · ${scoring} being scored` : ""}${paused}`;
  return (
    <Pill
      data-testid="deck-pill"
      title={`${words}: how many undecided exceptions this workstation holds, and its bound`}
    >
      <span className={styles.text}>{words}</span>
      <span className={styles.bar} aria-hidden="true">
        <i style={{ width: `${Math.min(100, (100 * count) / Math.max(1, bound))}%` }} />
      </span>
    </Pill>
  );
}

export function LinkPill({ session }: { session: Timed<SessionView> }) {
  const { link, needs } = session.value;
  const workOffline = useFrame((state) => state.workOffline);
  const next = link.next_attempt_in_ms;
  const seconds = useSecondsUntil(next === null ? null : session.askedAtMs + next);
  const contact = link.last_contact === null ? null : instantText(link.last_contact, Date.now());
  if (link.online) {
    const answered = contact === null ? "" : `: last answer ${contact}`;
    return (
      <Pill
        data-testid="link-pill"
        data-online
        tone="ok"
        title={`The last call to the database succeeded${answered}`}
      >
        <Dot />
        Online
      </Pill>
    );
  }
  const waits = waitingWords(session.value);
  if (waits !== null) {
    return (
      <Pill data-testid="link-pill" data-online={false} title={visibleText(link.problem?.message ?? "")}>
        <Dot />
        {waits}
      </Pill>
    );
  }
  const since = contact === null ? "" : ` Last answer: ${contact}.`;
  const reason =
    link.problem === null ? "The database cannot be reached." : visibleText(link.problem.message);
  const attempt = seconds === null ? "" : seconds === 0 ? " · trying now" : ` · next try in ${seconds} s`;
  return (
    <>
      {needs !== "NOTHING" && (
        <Button look="quiet" onPress={() => workOffline(false)}>
          Sign in
        </Button>
      )}
      <Pill data-testid="link-pill" data-online={false} tone="warn" title={`${reason}${since}`}>
        <Dot />
        <span className={styles.offline}>Offline{attempt}</span>
      </Pill>
    </>
  );
}

/** The database answers, and a person has to do something: that is no trouble with the connection. */
export function waitingWords({ enrolment, leaving }: SessionView): string | null {
  if (leaving !== null) return "Revoked";
  return enrolment === null ? null : "Waiting for confirmation";
}
