import { instantText } from "../../components/clock";
import { visibleText } from "../../components/visible-text";
import type { PolicyView } from "../../generated/PolicyView";
import styles from "./Attestation.module.css";

/** What signing attests, in the policy's words. */
export function Attestation({ policy }: { policy: PolicyView }) {
  return (
    <blockquote className={styles.attestation} data-testid="attestation">
      <p>{visibleText(policy.attestation)}</p>
      <footer>
        Policy {policy.version}, as of {instantText(policy.as_of, Date.now())}
      </footer>
    </blockquote>
  );
}
