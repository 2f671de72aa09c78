import { minuteText } from "../../components/clock";
import { visibleText } from "../../components/visible-text";
import type { CloseView } from "../../generated/CloseView";
import styles from "./CloseScreen.module.css";

/** The few numbers that are looked at most, and the projection in words. */
export function CloseNumbers({ view }: { view: CloseView }) {
  const { left, signed_today: signed, mine_today: mine, period, projection } = view;
  const early = view.burn_down.length < 2;
  const deadline = period?.closes_at ?? null;
  return (
    <div className={styles.numbers}>
      <dl className={styles.counts}>
        <div>
          <dt>Left</dt>
          <dd data-testid="close-left">{left}</dd>
        </div>
        <div>
          <dt>Signed today</dt>
          <dd>{signed}</dd>
        </div>
        <div>
          <dt>By me</dt>
          <dd data-testid="close-mine">
            {mine}
            {signed > 0 && <span className={styles.share}> {Math.round((100 * mine) / signed)} %</span>}
          </dd>
        </div>
        <div>
          <dt>{period === null ? "Period" : visibleText(`Period ${period.name}, ${period.state}`)}</dt>
          <dd>{deadline === null ? "no deadline" : minuteText(deadline, Date.now())}</dd>
        </div>
      </dl>
      <p
        className={styles.projection}
        // Before the second hour the words say what is missing: that is no warning.
        data-late={early || projection?.in_time == null ? undefined : !projection.in_time}
        title={projection === null ? undefined : visibleText(projection.words)}
        data-testid="projection"
      >
        {projection === null
          ? "There is nothing to project from yet: it begins when signatures come in."
          : visibleText(projection.words)}
      </p>
    </div>
  );
}
