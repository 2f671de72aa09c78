import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Button } from "../../components/Button";
import { counted } from "../../components/plural";
import { visibleText } from "../../components/visible-text";
import { Window } from "../../components/Window";
import type { Profile } from "../../generated/Profile";
import type { SessionView } from "../../generated/SessionView";
import { toCommandError, useIpc } from "../../ipc/ipc";
import { useConnect } from "../connect/use-connect";
import { useFrame } from "../shell/frame-store";
import styles from "./entries.module.css";
import { ProfileDialog } from "./ProfileDialog";
import type { Entry } from "./sections";

export function profileEntries(session: SessionView): Entry[] {
  return [
    ...session.profiles.map((profile) => ({
      id: profile.name,
      words: `connection profile ${profile.name} ${profile.host} ${profile.database} ${profile.user}`,
      shown: <SavedProfile profile={profile} session={session} />,
    })),
    { id: "", words: "add connection profile", shown: <AddProfile session={session} /> },
  ];
}

function AddProfile({ session }: { session: SessionView }) {
  const [adding, setAdding] = useState(false);
  return (
    <>
      <Button onPress={() => setAdding(true)} data-testid="profile-add">
        Add a connection…
      </Button>
      {adding && <ProfileDialog profile={null} session={session} onClose={() => setAdding(false)} />}
    </>
  );
}

type Asked = "nothing" | "edit" | "use" | "delete";

function SavedProfile({ profile, session }: { profile: Profile; session: SessionView }) {
  const [asked, setAsked] = useState<Asked>("nothing");
  const close = () => setAsked("nothing");
  const inUse = session.profile?.name === profile.name;
  const name = visibleText(profile.name);
  return (
    <div className={styles.row} data-testid={`profile-${profile.name}`}>
      <div>
        <p className={styles.name}>
          {name} {inUse && "· in use"}
        </p>
        <p className={styles.help}>
          {visibleText(`${profile.user}, ${profile.database} on ${profile.host}, port ${profile.port}`)}
        </p>
      </div>
      <span className={styles.space} />
      <Button
        onPress={() => setAsked("use")}
        isDisabled={inUse}
        aria-label={`Use ${name}`}
        data-testid="profile-use"
      >
        Use
      </Button>
      <Button onPress={() => setAsked("edit")} aria-label={`Edit… ${name}`} data-testid="profile-edit">
        Edit…
      </Button>
      <Button
        onPress={() => setAsked("delete")}
        isDisabled={inUse}
        title={inUse ? "It is in use: sign out first" : undefined}
        aria-label={`Delete… ${name}`}
        data-testid="profile-delete"
      >
        Delete…
      </Button>
      {asked === "edit" && <ProfileDialog profile={profile} session={session} onClose={close} />}
      {asked === "use" && <UseQuestion profile={profile} session={session} onClose={close} />}
      {asked === "delete" && <DeleteQuestion profile={profile} onClose={close} />}
    </div>
  );
}

interface QuestionProps {
  profile: Profile;
  onClose: () => void;
}

/** Another connection has another journal: what is here stays here until it is used again. */
function UseQuestion({ profile, session, onClose }: QuestionProps & { session: SessionView }) {
  const { connect, connecting, problem } = useConnect(session, null);
  const workOffline = useFrame((state) => state.workOffline);
  const use = async () => {
    // What is asked next, such as the password, is asked by the connection's own screen.
    workOffline(false);
    if (await connect(profile, null, false)) onClose();
  };
  const { deck_count, unsent } = session;
  return (
    <Window
      title={`Use ${visibleText(profile.name)}`}
      role="alertdialog"
      onClose={onClose}
      data-testid="profile-use-dialog"
    >
      <p>
        {deck_count === 0 && unsent === 0
          ? "Nothing is left behind in the connection in use."
          : `${counted(deck_count, "undecided exception")} and ${counted(unsent, "unsent decision")} of the connection in use stay on this computer, and go on when you use it again.`}
      </p>
      <p className={styles.problem} role="alert">
        {visibleText(problem?.message ?? "")}
      </p>
      <div className={styles.actions}>
        <Button autoFocus shortcut="Esc" onPress={onClose}>
          Cancel
        </Button>
        <Button
          look="primary"
          isBusy={connecting}
          onPress={() => void use()}
          data-testid="profile-use-confirm"
        >
          {connecting ? "Connecting…" : "Use it"}
        </Button>
      </div>
    </Window>
  );
}

function DeleteQuestion({ profile, onClose }: QuestionProps) {
  const ipc = useIpc();
  const client = useQueryClient();
  const [problem, setProblem] = useState("");
  const remove = async () => {
    try {
      const value = await ipc.deleteProfile(profile.name);
      client.setQueryData(["session"], { value, askedAtMs: performance.now() });
      onClose();
    } catch (thrown) {
      setProblem(toCommandError(thrown).message);
    }
  };
  return (
    <Window
      title={`Delete ${visibleText(profile.name)}`}
      role="alertdialog"
      onClose={onClose}
      data-testid="profile-delete-dialog"
    >
      <p>The connection is forgotten. Its journal stays, and with it decisions that are unsent.</p>
      <p className={styles.problem} role="alert">
        {visibleText(problem)}
      </p>
      <div className={styles.actions}>
        <Button autoFocus shortcut="Esc" onPress={onClose}>
          Cancel
        </Button>
        <Button look="primary" onPress={() => void remove()} data-testid="profile-delete-confirm">
          Delete
        </Button>
      </div>
    </Window>
  );
}
