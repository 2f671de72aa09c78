import { useMemo } from "react";
import { spanText, useSecondsUntil } from "../../components/clock";
import { Text } from "../../components/Text";
import type { ClosePeriod } from "../../generated/ClosePeriod";

/** The period, and how long until it closes. */
export function PeriodNote({ period }: { period: ClosePeriod }) {
  const { closes_at: closesAt } = period;
  // On the monotonic clock, like every countdown here.
  const deadlineMs = useMemo(
    () => (closesAt === null ? null : performance.now() + Date.parse(closesAt) - Date.now()),
    [closesAt],
  );
  const seconds = useSecondsUntil(deadlineMs);
  return (
    <>
      <Text text={`Period ${period.name}`} />
      {seconds !== null && (
        <span data-testid="period-closes">
          {seconds === 0 ? "its deadline has passed" : `closes in ${spanText(seconds)}`}
        </span>
      )}
    </>
  );
}
