import { Fragment } from "react";
import { Button } from "../../components/Button";
import { CopyButton } from "../../components/CopyButton";
import panel from "../../components/panel.module.css";
import { complain } from "../../components/toast-store";
import { visibleText } from "../../components/visible-text";
import type { EnrolmentView } from "../../generated/EnrolmentView";
import { toCommandError, useIpc } from "../../ipc/ipc";
import styles from "./EnrolmentPanel.module.css";

/** What a new workstation waits for, and what the reviewer tells the supervisor. It is a step and not an error. */
export function EnrolmentPanel({ enrolment }: { enrolment: EnrolmentView }) {
  const ipc = useIpc();
  const { workstation, fingerprint, command } = enrolment;
  return (
    <section className={panel.panel} aria-labelledby="enrolment-title" data-testid="enrolment">
      <h2 id="enrolment-title" className={panel.title}>
        Waiting for a supervisor to confirm this computer
      </h2>
      <p className={panel.lead}>
        Countersign made a key that your decisions are signed with here. A supervisor confirms once that it is
        yours: read them these two, or send them by a way you trust.
      </p>
      <dl className={`${panel.facts} ${styles.identity}`}>
        <Identity label="Workstation number" value={workstation} what="workstation number" id="workstation" />
        <Identity label="Fingerprint" value={fingerprint} what="fingerprint" id="fingerprint" large />
      </dl>
      <div className={panel.actions}>
        <CopyButton
          look="plain"
          what="number and fingerprint"
          text={`Workstation ${workstation}\nFingerprint ${fingerprint}`}
          data-testid="copy-both"
        >
          Copy both
        </CopyButton>
        <Button
          look="primary"
          onPress={() => ipc.retryNow().catch((thrown) => complain(toCommandError(thrown).message))}
          data-testid="check-again"
        >
          Check again now
        </Button>
        <span className={panel.hint}>It is also looked at every few seconds; work begins by itself.</span>
      </div>
      <div className={styles.command}>
        <h3>What the supervisor enters</h3>
        <div>
          <code>
            {visibleText(command)
              .split(" ")
              .map((word) => (
                <Fragment key={word}>
                  <span>{word}</span>{" "}
                </Fragment>
              ))}
          </code>
          <CopyButton what="command" text={command} />
        </div>
      </div>
    </section>
  );
}

interface IdentityProps {
  label: string;
  value: string;
  what: string;
  id: string;
  large?: boolean;
}

/** In groups, as they are read out; what is copied is the whole. */
function Identity({ label, value, what, id, large = false }: IdentityProps) {
  const groups = visibleText(value).split("-");
  return (
    <div>
      <dt>{label}</dt>
      <dd>
        <span
          className={large ? styles.large : styles.mono}
          data-testid={`enrolment-${id}`}
          data-value={value}
        >
          {groups.map((group, place) => (
            // The groups of one identifier never change places.
            // biome-ignore lint/suspicious/noArrayIndexKey: two groups may read the same
            <span key={place}>{place === 0 ? group : `-${group}`}</span>
          ))}
        </span>
        <CopyButton what={what} text={value} />
      </dd>
    </div>
  );
}
