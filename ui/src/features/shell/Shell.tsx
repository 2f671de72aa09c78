import { Activity, useEffect, useRef, useState } from "react";
import type { SessionView } from "../../generated/SessionView";
import type { Timed } from "../../ipc/reads";
import { ActionHost } from "../actions/ActionHost";
import { BacklogScreen } from "../backlog/BacklogScreen";
import { CloseScreen } from "../close/CloseScreen";
import { EnrolmentPanel } from "../enrolment/EnrolmentPanel";
import { LeavingPanel } from "../leaving/LeavingPanel";
import { LettersScreen } from "../letters/LettersScreen";
import { useLetterDesk } from "../letters/letters-store";
import { OfflineDialogs } from "../offline/OfflineDialogs";
import { ReviewScreen } from "../review/ReviewScreen";
import { useReview } from "../review/review-store";
import { SettingsScreen } from "../settings/SettingsScreen";
import { SyncScreen } from "../sync/SyncScreen";
import { FocusPill } from "./FocusPill";
import { SCREENS, type Screen, useFrame } from "./frame-store";
import { DeckPill, LinkPill } from "./HeaderPills";
import { LeasePill } from "./LeasePill";
import { Nav } from "./Nav";
import styles from "./Shell.module.css";
import { Shortcuts } from "./Shortcuts";
import { SignOutDialog } from "./SignOutDialog";
import { StatusAnnouncer } from "./StatusAnnouncer";
import { useSessionActions } from "./use-session-actions";

const TITLES: Record<Screen, string> = {
  review: "Review",
  backlog: "Backlog",
  sync: "Sync",
  letters: "Dead letters",
  close: "Close",
  settings: "Settings",
};

const DRAWN: Record<Screen, (session: Timed<SessionView>) => React.ReactNode> = {
  review: (session) => <Review session={session.value} />,
  backlog: () => <BacklogScreen />,
  sync: (session) => <SyncScreen session={session} />,
  letters: (session) => <LettersScreen session={session.value} />,
  close: () => <CloseScreen />,
  settings: () => <SettingsScreen />,
};

/** Screens on which the keyboard begins among rows. */
const ROWS_OF: Partial<Record<Screen, () => void>> = {
  review: () => useReview.getState().focusGrid(),
  letters: () => useLetterDesk.getState().focusRows(),
};

/** The frame around the screens: where to go on the left, how the workstation is doing on top. */
export function Shell({ session }: { session: Timed<SessionView> }) {
  const screen = useFrame((state) => state.screen);
  const title = useRef<HTMLHeadingElement>(null);
  useArrival(title);
  useSessionActions(session.value);
  const { leaving } = session.value;
  return (
    <div className={styles.frame}>
      <div className={styles.shell}>
        <button type="button" className={styles.skip} onClick={() => title.current?.focus()}>
          Skip to the screen
        </button>
        <Nav session={session} />
        <main className={styles.main} aria-labelledby="screen-title">
          <div className={styles.header}>
            <h1 className={styles.title} id="screen-title" ref={title} tabIndex={-1}>
              {TITLES[screen]}
            </h1>
            <FocusPill session={session.value} />
            <DeckPill session={session.value} />
            <span className={styles.space} />
            <LeasePill session={session} />
            <LinkPill session={session} />
          </div>
          <div className={styles.body}>
            {leaving === null ? (
              <Screens screen={screen} session={session} />
            ) : (
              <div className={styles.panels}>
                <LeavingPanel leaving={leaving} />
              </div>
            )}
          </div>
        </main>
        <ActionHost />
        <Shortcuts />
        <OfflineDialogs session={session.value} />
        <SignOutDialog session={session.value} />
        <StatusAnnouncer session={session.value} />
      </div>
    </div>
  );
}

/** A screen that was shown once stays as it was left, asleep: its effects and its reads rest until it is shown again. */
function Screens({ screen, session }: { screen: Screen; session: Timed<SessionView> }) {
  const [visited, setVisited] = useState<ReadonlySet<Screen>>(() => new Set([screen]));
  if (!visited.has(screen)) setVisited(new Set([...visited, screen]));
  return SCREENS.filter((each) => visited.has(each) || each === screen).map((each) => (
    <Activity key={each} mode={each === screen ? "visible" : "hidden"}>
      {DRAWN[each](session)}
    </Activity>
  ));
}

/** After a navigation the keyboard is where the screen begins: its heading, or rows, among which keys work. */
function useArrival(title: React.RefObject<HTMLHeadingElement | null>) {
  const arrivals = useFrame((state) => state.arrivals);
  const seen = useRef(arrivals);
  useEffect(() => {
    if (seen.current === arrivals) return;
    seen.current = arrivals;
    title.current?.focus();
    const focusRows = ROWS_OF[useFrame.getState().screen];
    if (focusRows === undefined) return;
    // A grid that was asleep draws its rows after this.
    const frame = requestAnimationFrame(focusRows);
    return () => cancelAnimationFrame(frame);
  }, [arrivals, title]);
}

function Review({ session }: { session: SessionView }) {
  const { enrolment, deck_count } = session;
  // What was leased before can still be looked at.
  if (enrolment !== null && deck_count === 0) {
    return (
      <div className={styles.panels}>
        <EnrolmentPanel enrolment={enrolment} />
      </div>
    );
  }
  return <ReviewScreen session={session} />;
}
