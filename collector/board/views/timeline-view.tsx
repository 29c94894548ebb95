import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { knownAt, type TimelineEntry } from "../../src/display/timeline-view.ts";
import { moved, roundTimes, type TimeWindow, zoomed } from "../model/time-window.ts";
import { useBoard, useLoaded, useLook, useModel } from "../model/use-board.ts";
import { ChildLink } from "../parts/child-link.tsx";
import { StateMark } from "../parts/state-mark.tsx";
import { clockWords } from "../parts/time-words.ts";
import { Lane, type Scale } from "./timeline-lane.tsx";

const CHILDREN_AT_ONCE = 60;
const REST_MS = 1_000;
const AXIS_HEIGHT = 26;

/** States over time, as the record says they were, and the record as it was at an earlier moment. */
export function TimelineView(): JSX.Element {
  const model = useModel();
  const {
    model: { client },
  } = useBoard();
  const { look } = useLook();
  const filter = {
    limit: CHILDREN_AT_ONCE,
    ...(look.states.length > 0 ? { states: look.states } : {}),
    ...(look.source && { source: look.source }),
    ...(look.root && { rootChildId: look.root }),
    ...(look.text && { text: look.text }),
    ...(look.stale ? { stale: true } : {}),
    ...(look.provisional ? { provisional: true } : {}),
  };
  const loaded = useLoaded(JSON.stringify(filter), model.summary?.position, () => client.timeline(filter), REST_MS);
  const entries = loaded.kind === "loading" ? [] : (loaded.value?.timeline ?? []);
  const isCut = loaded.kind !== "loading" && typeof loaded.value?.nextCursor === "string";
  const { now } = model;
  /** `undefined`: everything, up to the live edge. */
  const [chosen, setChosen] = useState<TimeWindow | undefined>(undefined);
  /** How much of the past is in sight while the live edge is followed. */
  const [liveSpan, setLiveSpan] = useState<number | undefined>(undefined);
  const [rewoundTo, setRewoundTo] = useState<number | undefined>(undefined);
  const [width, lanes] = useWidth();
  const begin = Math.min(now - 10_000, ...entries.map(({ firstObservedAt }) => Date.parse(firstObservedAt)));
  const following: TimeWindow =
    liveSpan === undefined
      ? { from: begin - (now - begin) * 0.02, to: now + (now - begin) * 0.03 }
      : { from: now - liveSpan, to: now + liveSpan * 0.03 };
  const window = chosen ?? following;
  const scale: Scale = {
    x: (time) => ((time - window.from) / (window.to - window.from)) * width,
    width,
    now,
  };
  const instant = rewoundTo ?? now;
  const zoom = (factor: number): void => {
    if (chosen === undefined) setLiveSpan((window.to - window.from) * factor);
    else setChosen(zoomed(chosen, factor));
  };
  const pan = (share: number): void => setChosen(moved(window, share));
  const live = (): void => {
    setChosen(undefined);
    setLiveSpan(undefined);
    setRewoundTo(undefined);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const moves: Readonly<Record<string, () => void>> = {
      ArrowLeft: () => pan(-0.1),
      ArrowRight: () => pan(0.1),
      "+": () => zoom(0.7),
      "=": () => zoom(0.7),
      "-": () => zoom(1.4),
      End: live,
      "0": live,
    };
    const move = moves[event.key];
    if (move === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    move();
  };
  const drag = useDrag((share) => setChosen(moved(window, -share)), width);
  return (
    <section class="view" aria-label="Timeline">
      <div class="ledger">
        <span>
          {entries.length} {entries.length === 1 ? "child" : "children"}
          {isCut && ", the newest that match"}
        </span>
        <span class="ledger-actions">
          <button type="button" aria-label="Earlier" onClick={() => pan(-0.25)}>
            ←
          </button>
          <button type="button" aria-label="Zoom out" onClick={() => zoom(1.5)}>
            −
          </button>
          <button type="button" aria-label="Zoom in" onClick={() => zoom(0.66)}>
            +
          </button>
          <button type="button" aria-label="Later" onClick={() => pan(0.25)}>
            →
          </button>
          <button type="button" aria-pressed={chosen === undefined && rewoundTo === undefined} onClick={live}>
            Live
          </button>
        </span>
      </div>
      <label class="rewind">
        <span>Rewind</span>
        <input
          type="range"
          min={begin}
          max={now}
          step="any"
          value={instant}
          aria-valuetext={`as known at ${clockWords(new Date(instant).toISOString())}`}
          onInput={({ currentTarget }) => {
            const at = Number(currentTarget.value);
            setRewoundTo(at >= now - (now - begin) * 0.002 ? undefined : at);
          }}
        />
        <output class={rewoundTo === undefined ? "quiet" : "is-rewound"}>
          {rewoundTo === undefined ? "as known now" : `as known at ${clockWords(new Date(rewoundTo).toISOString())}`}
        </output>
      </label>
      {loaded.kind === "failed" && <p class="nothing">The timeline cannot be read: {loaded.reason}</p>}
      {loaded.kind === "loaded" && entries.length === 0 && <p class="nothing">No child matches.</p>}
      <div
        class="timeline"
        tabIndex={0}
        role="region"
        aria-label="State intervals; arrows move, plus and minus zoom, End goes live"
        onKeyDown={onKeyDown}
      >
        <div class="timeline-axis">
          <span class="timeline-who quiet">{rewoundTo === undefined ? "now" : "as known then"}</span>
          <div class="timeline-lane" ref={lanes}>
            <Axis window={window} scale={scale} />
          </div>
        </div>
        {entries.map((entry) => (
          <div class="timeline-row" key={`${entry.source} ${entry.childId}`}>
            <Who entry={entry} instant={instant} isRewound={rewoundTo !== undefined} />
            <div class="timeline-lane" {...drag}>
              <Lane entry={entry} scale={scale} rewoundTo={rewoundTo} />
            </div>
          </div>
        ))}
      </div>
      <p class="legend quiet">
        Dashed outline: accepted over something missing. Dashes below: stale. Ticks: activities. ▲ reports missing · ◆
        corrected · ! claimed after the end
      </p>
    </section>
  );
}

interface WhoProps {
  readonly entry: TimelineEntry;
  readonly instant: number;
  readonly isRewound: boolean;
}

function Who({ entry, instant, isRewound }: WhoProps): JSX.Element {
  const then = knownAt(entry, instant);
  return (
    <div class="timeline-who">
      <span class="cut">
        <ChildLink source={entry.source} childId={entry.childId}>
          {entry.name ?? entry.childId}
        </ChildLink>
      </span>
      <span class="timeline-then cut">
        {then === undefined ? (
          <span class="quiet">not known {isRewound ? "then" : "yet"}</span>
        ) : (
          <StateMark state={then.state} />
        )}
        {then?.isStale === true && <span class="mark mark-stale">stale</span>}
        {then?.isProvisional === true && <span class="mark mark-provisional">provisional</span>}
        {isRewound && then?.activity != null && <span class="quiet cut">{then.activity}</span>}
      </span>
    </div>
  );
}

function Axis({ window, scale }: { readonly window: TimeWindow; readonly scale: Scale }): JSX.Element {
  const times = roundTimes(window, Math.max(2, Math.floor(scale.width / 110)));
  const isShort = window.to - window.from < 10_000;
  return (
    <svg width={scale.width} height={AXIS_HEIGHT} aria-hidden="true">
      {times.map((time) => (
        <g key={time} transform={`translate(${scale.x(time)} 0)`}>
          <path class="axis-line" d="M0 18 V26" />
          <text class="axis-text" x="3" y="14">
            {axisWords(time, isShort, window.to - window.from)}
          </text>
        </g>
      ))}
    </svg>
  );
}

const DAY_MS = 86_400_000;
const AXIS_TIME = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const AXIS_DAY = new Intl.DateTimeFormat(undefined, {
  month: "short",
  day: "numeric",
  hour: "2-digit",
  minute: "2-digit",
});

function axisWords(time: number, isShort: boolean, span: number): string {
  if (isShort) return `${AXIS_TIME.format(time)}.${String(time % 1_000).padStart(3, "0")}`;
  return (span > DAY_MS ? AXIS_DAY : AXIS_TIME).format(time);
}

function useWidth(): readonly [number, { current: HTMLDivElement | null }] {
  const place = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(600);
  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    const observer = new ResizeObserver(() => setWidth(Math.max(40, element.clientWidth)));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return [width, place];
}

/** Dragging with the pointer. @param onMoved share of the width, to the right */
function useDrag(
  onMoved: (share: number) => void,
  width: number,
): Readonly<Record<string, (event: PointerEvent) => void>> {
  const start = useRef<number | undefined>(undefined);
  return {
    onPointerDown: (event) => {
      start.current = event.clientX;
      (event.currentTarget as Element).setPointerCapture(event.pointerId);
    },
    onPointerMove: (event) => {
      if (start.current === undefined) return;
      onMoved((event.clientX - start.current) / width);
      start.current = event.clientX;
    },
    onPointerUp: () => {
      start.current = undefined;
    },
  };
}
