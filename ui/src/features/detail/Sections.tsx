import { CopyButton } from "../../components/CopyButton";
import { visibleText } from "../../components/visible-text";
import type { DetailView } from "../../generated/DetailView";
import { Calculation } from "./Calculation";
import { Changes } from "./Changes";
import styles from "./Detail.module.css";
import { Evidence } from "./Evidence";
import { Facts } from "./Facts";
import { History } from "./History";
import { Payload } from "./Payload";
import { Scan } from "./Scan";
import { Section } from "./Section";

/** What changed, above all that is as it was. */
export function ChangedSection({ view }: { view: DetailView }) {
  if (view.changes.length === 0) return null;
  const since = view.previous_version === null ? "it was seen before" : `version ${view.previous_version}`;
  return (
    <Section name="changes" title={`Changed since ${since}`}>
      <Changes changes={view.changes} />
    </Section>
  );
}

/** The evidence and all that is known besides. */
export function Sections({ view }: { view: DetailView }) {
  const { evidence, calculation, scan, control, facts, row } = view;
  return (
    <>
      {evidence.length > 0 && (
        <Section
          name="evidence"
          title={`${visibleText(view.left_title)} and ${lowerFirst(visibleText(view.right_title))}`}
        >
          <Evidence view={view} />
        </Section>
      )}
      {calculation.length > 0 && (
        <Section name="calculation" title="Calculation">
          <Calculation lines={calculation} />
        </Section>
      )}
      {scan !== null && (
        <Section name="scan" title="Receipt">
          <Scan key={row.id} id={row.id} scan={scan} />
        </Section>
      )}
      {control.length > 0 && (
        <Section name="control" title="Control">
          <Facts facts={control} />
        </Section>
      )}
      {facts.length > 0 && (
        <Section name="facts" title="Facts">
          <Facts facts={facts} />
        </Section>
      )}
      <Section name="history" title="History" startsOpen={false}>
        <History id={row.id} />
      </Section>
      <Section name="payload" title="Payload" startsOpen={false}>
        <Payload text={view.payload} />
      </Section>
      <Section name="identity" title="Identity" startsOpen={false}>
        <dl className={styles.identity}>
          <Identity label="Prepared by" value={view.prepared_by.join(", ")} />
          <Identity label="Key" value={view.key} />
          <Identity label="Content SHA-256" value={view.content_hash} />
          <Identity label="Trace" value={view.trace_id} />
          <Identity label="Partition" value={`${row.partition} · ${row.seq}`} />
        </dl>
      </Section>
      <p className={styles.copy}>
        <CopyButton what="detail as text" text={view.text} data-testid="copy-detail">
          Copy as text
        </CopyButton>
      </p>
    </>
  );
}

function Identity({ label, value }: { label: string; value: string }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>{visibleText(value)}</dd>
    </div>
  );
}

/** An abbreviation within stays as it is. */
function lowerFirst(title: string): string {
  return title.charAt(0).toLowerCase() + title.slice(1);
}
