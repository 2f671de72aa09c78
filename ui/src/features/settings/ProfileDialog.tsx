import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Busy } from "../../components/Busy";
import { Button } from "../../components/Button";
import { PasswordField } from "../../components/PasswordField";
import { visibleText } from "../../components/visible-text";
import { Window } from "../../components/Window";
import type { Profile } from "../../generated/Profile";
import type { SessionView } from "../../generated/SessionView";
import { toCommandError, useIpc } from "../../ipc/ipc";
import { ConnectionLines } from "../connect/ConnectionLines";
import { ProfileFields } from "../connect/ProfileFields";
import { useProfileForm } from "../connect/use-profile-form";
import styles from "./entries.module.css";

interface ProfileDialogProps {
  /** `null` adds one. */
  profile: Profile | null;
  session: SessionView;
  onClose: () => void;
}

/** A connection to change or to add. It is tried out and saved here, and used where it is chosen. */
export function ProfileDialog({ profile, session, onClose }: ProfileDialogProps) {
  const ipc = useIpc();
  const client = useQueryClient();
  const { form, problems, element, test, change, read, tryOut } = useProfileForm(profile);
  const [password, setPassword] = useState("");
  const [problem, setProblem] = useState("");
  const taken = profile === null && session.profiles.some(({ name }) => name === form.name.trim());
  const shown = taken ? { ...problems, name: "There is a connection of this name already." } : problems;

  const save = async () => {
    const reading = read();
    if (reading === null || taken) return;
    setProblem("");
    try {
      const value = await ipc.saveProfile(reading);
      client.setQueryData(["session"], { value, askedAtMs: performance.now() });
      onClose();
    } catch (thrown) {
      setProblem(toCommandError(thrown).message);
    }
  };

  return (
    <Window
      title={profile === null ? "Add a connection" : `Edit ${visibleText(profile.name)}`}
      wide
      onClose={onClose}
      data-testid="profile-dialog"
    >
      <form
        ref={element}
        className={styles.form}
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        <ProfileFields
          form={form}
          problems={shown}
          onChange={change}
          autoFocus
          nameFixed={profile !== null}
        />
        <PasswordField
          label="Password"
          name="profile-password"
          value={password}
          onChange={setPassword}
          help="For the test alone; it is not saved."
        />
        {test.result !== null && <ConnectionLines test={test.result} />}
        {test.testing && <Busy>Trying the connection…</Busy>}
        <p className={styles.problem} role="alert" data-testid="profile-error">
          {visibleText(problem || (test.problem?.message ?? ""))}
        </p>
        <div className={styles.actions}>
          <Button onPress={() => void tryOut(password === "" ? null : password)} data-testid="profile-test">
            Test connection
          </Button>
          <span className={styles.space} />
          <Button shortcut="Esc" onPress={onClose}>
            Cancel
          </Button>
          <Button type="submit" look="primary" data-testid="profile-save">
            Save
          </Button>
        </div>
      </form>
    </Window>
  );
}
