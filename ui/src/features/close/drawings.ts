import type uPlot from "uplot";
import { minuteText } from "../../components/clock";
import type { CaptureDay } from "../../generated/CaptureDay";
import type { CloseView } from "../../generated/CloseView";
import type { Drawing } from "./Chart";
import type { ChartTheme } from "./chart-theme";

const DAY_S = 86_400;

function secondsOf(instant: string): number {
  return Date.parse(instant) / 1000;
}

/** Days at midnight, hours in between. */
function timeWords(seconds: number): string {
  const at = minuteText(new Date(seconds * 1000).toISOString(), 0);
  return at.endsWith(" 00:00") ? at.slice(5, 10) : at.slice(11);
}

function axes(theme: ChartTheme): uPlot.Axis[] {
  const common = {
    stroke: theme.faint,
    font: theme.font,
    grid: { stroke: theme.line, width: 1 },
    ticks: { show: false },
  };
  return [
    { ...common, size: 22, gap: 4, space: 56, values: (_, splits) => splits.map(timeWords) },
    {
      ...common,
      size: 46,
      gap: 4,
      values: (_, splits) => splits.map((each) => (Number.isInteger(each) ? String(each) : "")),
    },
  ];
}

const QUIET: Partial<uPlot.Options> = {
  cursor: { show: false },
  legend: { show: false },
  padding: [8, 14, 0, 0],
};

/** What is left by the hour, and where it leads to before or after the deadline. */
export function burnDown({ as_of, left, burn_down, projection, period }: CloseView) {
  return (theme: ChartTheme): Drawing => {
    const now = secondsOf(as_of);
    const past = burn_down.filter(({ at }) => secondsOf(at) < now);
    const done = projection?.done_at == null ? null : secondsOf(projection.done_at);
    const deadline = period?.closes_at == null ? null : secondsOf(period.closes_at);
    const first = past[0] === undefined ? now - DAY_S : secondsOf(past[0].at);
    // As much of the future as of the past, at most: a projection that leads far away runs out of the picture.
    const end = Math.max(
      now,
      Math.min(now + Math.max(now - first, DAY_S), Math.max(done ?? now, deadline ?? now)),
    );
    const x = [...past.map(({ at }) => secondsOf(at)), now, ...(done === null ? [] : [done])];
    const known = [...past.map(({ left: then }) => then), left];
    const ahead = done === null ? [] : [...past.map(() => null), left, 0];
    const fill = (values: (number | null)[]) => x.map((_, place) => values[place] ?? null);
    return {
      data: [x, fill(known), fill(ahead)],
      options: {
        ...QUIET,
        axes: axes(theme),
        scales: {
          x: { range: [first, end + (end - first) * 0.02] },
          y: { range: (_, __, most) => [0, Math.max(1, most * 1.05)] },
        },
        series: [
          {},
          { stroke: theme.accent, width: 2, points: { show: false } },
          { stroke: theme.accent, width: 2, dash: [5, 4], points: { show: false } },
        ],
        hooks: { draw: deadline === null ? [] : [(plot) => upright(plot, deadline, theme.warn)] },
      },
    };
  };
}

function upright(plot: uPlot, seconds: number, colour: string) {
  const { ctx, bbox } = plot;
  const x = Math.round(plot.valToPos(seconds, "x", true));
  if (x < bbox.left || x > bbox.left + bbox.width) return;
  ctx.save();
  ctx.strokeStyle = colour;
  ctx.setLineDash([]);
  ctx.lineWidth = 2 * devicePixelRatio;
  ctx.beginPath();
  ctx.moveTo(x, bbox.top);
  ctx.lineTo(x, bbox.top + bbox.height);
  ctx.stroke();
  ctx.restore();
}

/** What was decided and what arrived, by the hour. */
export function byTheHour({ burn_down }: CloseView) {
  return (theme: ChartTheme, plot: typeof uPlot): Drawing => ({
    data: [
      burn_down.map(({ at }) => secondsOf(at)),
      burn_down.map(({ decided }) => decided),
      burn_down.map(({ arrived }) => arrived),
    ],
    options: {
      ...QUIET,
      axes: axes(theme),
      scales: { y: { range: (_, __, most) => [0, Math.max(1, most * 1.05)] } },
      series: [
        {},
        {
          fill: theme.accent,
          width: 0,
          points: { show: false },
          paths: plot.paths.bars?.({ size: [0.7, 24] }),
        },
        { stroke: theme.second, width: 2, points: { show: false } },
      ],
    },
  });
}

/** The share of receipts that drift, by the day; those over policy in the colour of a warning. */
export function captureByDay(days: readonly CaptureDay[]) {
  return (theme: ChartTheme, plot: typeof uPlot): Drawing => {
    const inOrder = [...days].sort((a, b) => (a.day < b.day ? -1 : 1));
    const bars = plot.paths.bars?.({ size: [0.7, 24] });
    const x = inOrder.map(({ day }) => secondsOf(`${day}T12:00:00Z`));
    // For the picture alone: the share in words is the one that was told.
    const shares = (alert: boolean) =>
      inOrder.map((each) => (each.alert === alert ? Number.parseFloat(each.share) : null));
    return {
      data: [x, shares(false), shares(true)],
      options: {
        ...QUIET,
        padding: [8, 22, 0, 0],
        axes: axes(theme).map((axis, place) =>
          place === 0 ? { ...axis, values: (_, splits) => splits.map(dayWords), space: 52 } : axis,
        ),
        scales: {
          x: { range: (_, first, last) => [first - DAY_S / 2, last + DAY_S / 2] },
          y: { range: (_, __, most) => [0, Math.max(1, most * 1.05)] },
        },
        series: [
          {},
          { fill: theme.accent, width: 0, points: { show: false }, paths: bars },
          { fill: theme.warn, width: 0, points: { show: false }, paths: bars },
        ],
      },
    };
  };
}

/** Days of receipts are days in UTC. */
function dayWords(seconds: number): string {
  return new Date(seconds * 1000).toISOString().slice(5, 10);
}
