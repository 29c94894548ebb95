import type { JSX } from "preact";
import type { StateInterval, TimelineEntry, TimelineMark } from "../../src/display/timeline-view.ts";
import { clockWords } from "../parts/time-words.ts";

/** From times to places. */
export interface Scale {
  readonly x: (time: number) => number;
  readonly width: number;
  readonly now: number;
}

interface LaneProps {
  readonly entry: TimelineEntry;
  readonly scale: Scale;
  readonly rewoundTo: number | undefined;
}

const HEIGHT = 40;
const TOP = 8;
const BAR = 18;
const ENDED: ReadonlySet<string> = new Set(["completed", "failed", "cancelled", "lost"]);
const MARK_SIGNS: Readonly<Record<TimelineMark["kind"], string>> = {
  gap: "▲",
  gap_filled: "△",
  correction: "◆",
  epoch_changed: "◇",
  late: "!",
  conflict: "≠",
  out_of_order: "↶",
  rejected: "×",
};

/** One child's states over time. What was recorded after the moment that is looked at is not drawn. */
export function Lane({ entry, scale, rewoundTo }: LaneProps): JSX.Element {
  const limit = rewoundTo ?? Number.POSITIVE_INFINITY;
  const isKnown = ({ recordedAt }: { readonly recordedAt: string }): boolean => Date.parse(recordedAt) <= limit;
  const intervals = entry.intervals.filter(isKnown);
  const edge = Math.min(scale.now, limit);
  return (
    <svg width={scale.width} height={HEIGHT} role="img" aria-label={laneWords(intervals)}>
      {intervals.map((interval, index) => {
        const next = intervals[index + 1];
        const to = next === undefined ? edge : Date.parse(interval.to ?? next.from);
        return <Bar key={interval.recordedAt + interval.state} interval={interval} to={to} scale={scale} />;
      })}
      {entry.stale.map(({ from, to }) => {
        const begin = Date.parse(from);
        if (begin > limit) return null;
        const left = clamp(scale.x(begin), scale);
        const right = clamp(scale.x(to === null ? edge : Math.min(edge, Date.parse(to))), scale);
        return <path key={from} class="stale-band" d={`M${left} ${TOP + BAR + 4} H${Math.max(left + 2, right)}`} />;
      })}
      <path class="activity-ticks" d={ticks(entry, scale, limit)} />
      {entry.marks.filter(isKnown).map((mark, index) => {
        const x = scale.x(Date.parse(mark.at));
        if (x < 0 || x > scale.width) return null;
        return (
          <text
            key={`${mark.recordedAt}/${index}`}
            class={`lane-mark lane-mark-${mark.kind}`}
            x={x}
            y={HEIGHT - 3}
            text-anchor="middle"
          >
            {MARK_SIGNS[mark.kind]}
            <title>{`${mark.kind.replaceAll("_", " ")}: ${mark.text}, ${clockWords(mark.at)}`}</title>
          </text>
        );
      })}
      {rewoundTo !== undefined && <path class="rewind-line" d={`M${scale.x(rewoundTo)} 0 V${HEIGHT}`} />}
      {rewoundTo === undefined && <path class="live-line" d={`M${scale.x(scale.now)} 0 V${HEIGHT}`} />}
    </svg>
  );
}

interface BarProps {
  readonly interval: StateInterval;
  readonly to: number;
  readonly scale: Scale;
}

function Bar({ interval, to, scale }: BarProps): JSX.Element | null {
  const from = Date.parse(interval.from);
  const isEnd = ENDED.has(interval.state);
  const left = scale.x(from);
  const right = scale.x(Math.max(from, to));
  if (right < 0 || left > scale.width) return null;
  const title = <title>{`${interval.state} since ${clockWords(interval.from)}${BY_WORDS[interval.by]}`}</title>;
  const className = `bar state-${interval.state} ${interval.isProvisional ? "is-provisional" : ""}`;
  // An end is a moment, however long ago.
  if (isEnd) {
    return (
      <g class={className} transform={`translate(${left} ${TOP})`}>
        <rect class="bar-end" x="0" y="-2" width="4" height={BAR + 4} rx="1" />
        <text class="bar-word" x="9" y={BAR - 5}>
          {interval.state}
        </text>
        {title}
      </g>
    );
  }
  const x = clamp(left, scale);
  const width = Math.max(1.5, clamp(right, scale) - x);
  return (
    <g class={className} transform={`translate(${x} ${TOP})`}>
      <rect class="bar-body" x="0" y="0" width={width} height={BAR} rx="2" />
      {width > 60 && (
        <text class="bar-word" x="6" y={BAR - 5}>
          {interval.state}
        </text>
      )}
      {title}
    </g>
  );
}

const BY_WORDS: Readonly<Record<StateInterval["by"], string>> = {
  event: "",
  authoritative_snapshot: ", by an authoritative snapshot",
  failed_reconciliation: ": it could not be accounted for",
};

function clamp(x: number, { width }: Scale): number {
  return Math.min(width + 2, Math.max(-2, x));
}

/** One tick for each pixel in which there was an activity. */
function ticks({ activities }: TimelineEntry, scale: Scale, limit: number): string {
  const places = new Set<number>();
  for (const { at, recordedAt } of activities) {
    if (Date.parse(recordedAt) > limit) continue;
    const x = Math.round(scale.x(Date.parse(at)));
    if (x >= 0 && x <= scale.width) places.add(x);
  }
  return [...places].map((x) => `M${x}.5 ${TOP + BAR - 5} V${TOP + BAR}`).join(" ");
}

function laneWords(intervals: readonly StateInterval[]): string {
  if (intervals.length === 0) return "nothing known";
  return intervals.map(({ state, from }) => `${state} from ${clockWords(from)}`).join(", ");
}
