const STEP_PERCENT = 10;
export const SMALLEST_PERCENT = 50;
export const LARGEST_PERCENT = 300;

/** The next size up or down, within what the workstation accepts. */
export function stepped(percent: number, direction: 1 | -1): number {
  return Math.min(LARGEST_PERCENT, Math.max(SMALLEST_PERCENT, percent + direction * STEP_PERCENT));
}
