import { useId, useState } from "react";
import { Busy } from "../../components/Busy";
import { Button } from "../../components/Button";
import { Choice } from "../../components/Choice";
import { PasswordField } from "../../components/PasswordField";
import { counted } from "../../components/plural";
import { visibleText } from "../../components/visible-text";
import type { Profile } from "../../generated/Profile";
import type { SessionView } from "../../generated/SessionView";
import { LeavingPanel } from "../leaving/LeavingPanel";
import { useFrame } from "../shell/frame-store";
import { ConnectionLines } from "./ConnectionLines";
import styles from "./ConnectScreen.module.css";
import { ProfileFields } from "./ProfileFields";
import { useConnect } from "./use-connect";
import { useProfileForm } from "./use-profile-form";

/** The first thing a new reviewer sees: where the backlog is, who they are, whether it works, and in. */
export function ConnectScreen({ session }: { session: SessionView }) {
  const { problem, connecting, connect, forget } = useConnect(session, session.link.problem);
  const { form, problems, element, test, change, fill, read, tryOut } = useProfileForm(session.profile);
  const [password, setPassword] = useState("");
  const [remember, setRemember] = useState(false);
  // Who has just signed out is known, and so is where to.
  const known = session.profile !== null && (session.needs === "PASSWORD" || session.leaving !== null);
  const [editing, setEditing] = useState(!known);
  const errorId = useId();
  const typed = password === "" ? null : password;
  const message = problem?.message ?? test.problem?.message ?? "";

  const submit = async () => {
    const profile = read();
    if (profile === null) return setEditing(true);
    test.forget();
    if (await connect(profile, typed, remember)) return setPassword("");
    // What is wrong is mostly the password; the button that was pressed has lost the focus.
    element.current?.querySelector<HTMLInputElement>('input[name="password"]')?.focus();
  };

  return (
    <main className={styles.page}>
      <form
        ref={element}
        noValidate
        className={styles.card}
        data-testid="connect-form"
        onSubmit={(event) => {
          event.preventDefault();
          if (!connecting) void submit();
        }}
      >
        <h1>Countersign</h1>
        <p className={styles.lead}>
          {known
            ? "Sign in to the backlog."
            : "Three things, once: where the backlog is, who you are, and a try."}
        </p>
        <SavedConnections
          profiles={session.profiles}
          name={form.name}
          onChoose={(profile) => {
            fill(profile);
            forget();
          }}
        />
        {editing ? (
          <fieldset>
            <legend>Where the backlog is, and as whom you sign in</legend>
            <ProfileFields form={form} problems={problems} onChange={change} autoFocus={!known} />
          </fieldset>
        ) : (
          <div className={styles.summary}>
            <span>{visibleText(`${form.user}, ${form.database} on ${form.host}`)}</span>
            <Button look="quiet" onPress={() => setEditing(true)} data-testid="connect-edit">
              Change…
            </Button>
          </div>
        )}
        <fieldset>
          <legend>Who you are</legend>
          <PasswordField
            label="Password"
            name="password"
            value={password}
            onChange={setPassword}
            autoFocus={known}
            help={editing ? "Leave it empty where the database knows you without one." : undefined}
            invalidBy={message !== "" && problem?.code === "BAD_PASSWORD" ? errorId : undefined}
          />
          <label className={styles.remember}>
            <input
              type="checkbox"
              checked={remember}
              onChange={(event) => setRemember(event.target.checked)}
            />
            Remember the password in this computer’s keyring
          </label>
        </fieldset>
        {test.result !== null && <ConnectionLines test={test.result} />}
        <div className={styles.told}>
          {test.testing && <Busy>Trying the connection…</Busy>}
          {connecting && <Busy>Connecting…</Busy>}
          <p id={errorId} className={styles.problem} role="alert" data-testid="connect-error">
            {visibleText(message)}
          </p>
          {message === "" && test.result !== null && (
            <p role="status" className={test.result.good ? styles.good : styles.problem}>
              {test.result.good
                ? "Everything works: connect."
                : "Something does not work yet: the line that failed says what to do."}
            </p>
          )}
        </div>
        <div className={styles.actions}>
          <Button
            onPress={() => void tryOut(typed)}
            isDisabled={test.testing || connecting}
            data-testid="connect-test"
          >
            Test connection
          </Button>
          <Button type="submit" look="primary" isDisabled={connecting} data-testid="connect-submit">
            {connecting ? "Connecting…" : "Connect"}
          </Button>
        </div>
        <WorkOffline session={session} />
      </form>
      {session.leaving !== null && (
        <div className={styles.left}>
          <LeavingPanel leaving={session.leaving} />
        </div>
      )}
    </main>
  );
}

interface SavedConnectionsProps {
  profiles: readonly Profile[];
  name: string;
  onChoose: (profile: Profile) => void;
}

function SavedConnections({ profiles, name, onChoose }: SavedConnectionsProps) {
  if (profiles.length < 2) return null;
  return (
    <Choice
      label="Saved connections"
      options={profiles.map((profile) => ({ id: profile.name, label: visibleText(profile.name) }))}
      value={profiles.some((profile) => profile.name === name) ? name : null}
      onChange={(chosen) => {
        const profile = profiles.find((each) => each.name === chosen);
        if (profile !== undefined) onChoose(profile);
      }}
      placeholder="Another one"
      data-testid="connect-profiles"
    />
  );
}

/** What is on this computer can be worked on without signing in. */
function WorkOffline({ session: { deck_count, unsent } }: { session: SessionView }) {
  const workOffline = useFrame((state) => state.workOffline);
  if (deck_count === 0 && unsent === 0) return null;
  return (
    <div className={styles.offline}>
      <Button onPress={() => workOffline(true)} data-testid="work-offline">
        Work offline
      </Button>
      <span className={styles.kept}>
        {deck_count} to review, {counted(unsent, "decision")} unsent on this computer
      </span>
    </div>
  );
}
