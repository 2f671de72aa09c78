import { useRef, useState } from "react";
import type { ConnectionTest } from "../../generated/ConnectionTest";
import type { Profile } from "../../generated/Profile";
import { FIELD_OF_STEP, formOf, type Problems, type ProfileForm, readProfile } from "./profile-form";
import { useConnectionTest } from "./use-connection-test";

/** The fields of a connection, what is wrong with them, and what trying it found. */
export function useProfileForm(initial: Profile | null) {
  const [form, setForm] = useState(() => formOf(initial));
  const [problems, setProblems] = useState<Problems>({});
  const test = useConnectionTest();
  const element = useRef<HTMLFormElement>(null);

  const change = (part: Partial<ProfileForm>) => {
    setForm((before) => ({ ...before, ...part }));
    // What was said of the old text is not true of the new one.
    setProblems((before) =>
      Object.fromEntries(Object.entries(before).filter(([field]) => !Object.hasOwn(part, field))),
    );
    test.forget();
  };
  const fill = (profile: Profile | null) => {
    setForm(formOf(profile));
    setProblems({});
    test.forget();
  };
  /** The profile, or `null` with the focus in the first field that is wrong. */
  const read = (): Profile | null => {
    const reading = readProfile(form);
    if ("profile" in reading) {
      setProblems({});
      return reading.profile;
    }
    setProblems(reading.problems);
    requestAnimationFrame(() =>
      element.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus(),
    );
    return null;
  };
  const tryOut = async (password: string | null) => {
    const profile = read();
    if (profile === null) return;
    const answer = await test.run(profile, password);
    if (answer !== null) setProblems(problemsOf(answer));
  };
  return { form, problems, element, test, change, fill, read, tryOut };
}

/** A step that failed, at the field that decides about it. */
function problemsOf({ lines }: ConnectionTest): Problems {
  const failed = lines.filter(({ state }) => state === "FAILED");
  return Object.fromEntries(
    failed.flatMap(({ step, message }) => {
      const field = FIELD_OF_STEP[step];
      return field === undefined ? [] : [[field, message]];
    }),
  );
}
