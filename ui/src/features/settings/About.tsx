import { visibleText } from "../../components/visible-text";
import type { SessionView } from "../../generated/SessionView";
import styles from "./entries.module.css";
import type { Entry } from "./sections";

/** What this is, for whoever is asked about it. */
export function aboutEntries(session: SessionView): Entry[] {
  const { policy } = session;
  const facts = [
    ["Version", session.app_version],
    ["Workstation", session.workstation],
    ["Reviewer", session.reviewer ?? "not signed in"],
    ["Policy", policy === null ? "not heard of yet" : `version ${policy.version}`],
    ["Keys", session.keys_in_file ? "in a file that only your login can read" : "in this computer’s keyring"],
    ["Licence", "MIT or Apache-2.0"],
  ] as const;
  return [
    {
      id: "about",
      words: "about version licence workstation reviewer policy keys",
      shown: (
        <dl className={styles.facts} data-testid="about">
          {facts.map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{visibleText(String(value))}</dd>
            </div>
          ))}
        </dl>
      ),
    },
    ...session.warnings.map((warning) => ({
      id: `warning-${warning}`,
      words: warning,
      shown: <p>{visibleText(warning)}</p>,
    })),
  ];
}
