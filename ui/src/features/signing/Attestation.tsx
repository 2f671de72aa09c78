import { instantText } from "../../components/clock";
import { visibleText } from "../../components/visible-text";
import styles from "./Attestation.module.css";

interface AttestationProps {
  text: string;
  policy: number;
  asOf: string;
}

/** What signing attests, in the policy's words. It is stored as it is shown. */
export function Attestation({ text, policy, asOf }: AttestationProps) {
  return (
    <blockquote className={styles.attestation} data-testid="attestation">
      <p>{visibleText(text)}</p>
      <footer>
        Stored with each decision as shown. Policy {policy}, as of {instantText(asOf, Date.now())}
      </footer>
    </blockquote>
  );
}
