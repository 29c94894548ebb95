import type { ComponentChildren, JSX } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

/** One line of a grid. Its height is known before it is drawn, so that only what is in sight need be. */
export interface GridItem {
  readonly key: string;
  /** CSS pixels. */
  readonly height: number;
  /** A heading is passed over by the keyboard. */
  readonly isHeading?: boolean;
  readonly level?: number;
  readonly isExpanded?: boolean | undefined;
  readonly className?: string;
  readonly label?: string;
  draw(): ComponentChildren;
}

interface VirtualGridProps {
  readonly id: string;
  readonly label: string;
  readonly role: "grid" | "treegrid";
  readonly items: readonly GridItem[];
  readonly onOpen: (key: string) => void;
  /** Left and right, in a tree. */
  readonly onFold?: (key: string, open: boolean) => void;
}

/** Drawn above and below what is in sight. */
const OVERSCAN_PX = 400;

/**
 * A grid of any number of rows of which only those in sight exist. It is one stop of the Tab key; arrows, Page and End move
 * inside it. The active row is named by the grid, which keeps the focus while rows come, go and move.
 */
export function VirtualGrid({ id, label, role, items, onOpen, onFold }: VirtualGridProps): JSX.Element {
  const port = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 900 });
  const [active, setActive] = useState("");
  const offsets = offsetsOf(items);
  const total = offsets.at(-1) ?? 0;
  const first = Math.max(0, firstAfter(offsets, view.top - OVERSCAN_PX));
  const last = Math.min(items.length, firstAfter(offsets, view.top + view.height + OVERSCAN_PX) + 1);
  const activeIndex = items.findIndex(({ key }) => key === active);

  useLayoutEffect(() => {
    const element = port.current;
    if (element === null) return;
    const look = (): void => setView({ top: element.scrollTop, height: element.clientHeight });
    const observer = new ResizeObserver(look);
    observer.observe(element);
    element.addEventListener("scroll", look, { passive: true });
    look();
    return () => {
      observer.disconnect();
      element.removeEventListener("scroll", look);
    };
  }, []);

  const moveTo = (index: number, step: 1 | -1): void => {
    let at = Math.min(items.length - 1, Math.max(0, index));
    while (items[at]?.isHeading === true) at += step;
    const item = items[at];
    const element = port.current;
    if (item === undefined || element === null) return;
    setActive(item.key);
    const top = offsets[at] ?? 0;
    if (top < element.scrollTop) element.scrollTop = at <= 1 ? 0 : top;
    else if (top + item.height > element.scrollTop + element.clientHeight) {
      element.scrollTop = top + item.height - element.clientHeight;
    }
  };

  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const rowsOfPage = Math.max(1, Math.floor(view.height / 60) - 1);
    const moves: Readonly<Record<string, () => void>> = {
      ArrowDown: () => moveTo(activeIndex + 1, 1),
      ArrowUp: () => moveTo(activeIndex < 0 ? 0 : activeIndex - 1, activeIndex <= 1 ? 1 : -1),
      PageDown: () => moveTo(activeIndex + rowsOfPage, 1),
      PageUp: () => moveTo(activeIndex - rowsOfPage, activeIndex - rowsOfPage <= 0 ? 1 : -1),
      Home: () => moveTo(0, 1),
      End: () => moveTo(items.length - 1, -1),
      Enter: () => active !== "" && activeIndex >= 0 && onOpen(active),
      ArrowRight: () => activeIndex >= 0 && onFold?.(active, true),
      ArrowLeft: () => activeIndex >= 0 && onFold?.(active, false),
    };
    const move = moves[event.key];
    if (move === undefined) return;
    event.preventDefault();
    move();
  };

  // A row that is gone is active no more.
  useEffect(() => {
    if (active !== "" && activeIndex < 0) setActive("");
  }, [active, activeIndex]);

  const rowId = (index: number): string => `${id}-row-${index}`;
  const isActiveDrawn = activeIndex >= first && activeIndex < last;
  return (
    // biome-ignore lint/a11y/useAriaPropsSupportedByRole: both of its roles may be named
    <div
      ref={port}
      id={id}
      class="grid"
      role={role}
      tabIndex={0}
      aria-label={label}
      aria-rowcount={items.length}
      {...(isActiveDrawn ? { "aria-activedescendant": rowId(activeIndex) } : {})}
      onKeyDown={onKeyDown}
      onFocus={() => {
        if (activeIndex < 0) moveTo(0, 1);
      }}
    >
      <div class="grid-space" role="presentation" style={{ height: `${offsets[first] ?? 0}px` }} />
      {items.slice(first, last).map((item, place) => {
        const index = first + place;
        return (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the grid hears the keys
          <div
            key={item.key}
            id={rowId(index)}
            class={`grid-row ${item.className ?? ""} ${item.isHeading ? "heading" : ""}`}
            role="row"
            aria-rowindex={index + 1}
            {...(item.level === undefined ? {} : { "aria-level": item.level })}
            {...(item.isExpanded === undefined ? {} : { "aria-expanded": item.isExpanded })}
            {...(item.isHeading ? {} : { "aria-selected": item.key === active })}
            {...(item.label === undefined ? {} : { "aria-label": item.label })}
            style={{ height: `${item.height}px` }}
            onClick={() => {
              if (!item.isHeading) setActive(item.key);
            }}
          >
            {item.draw()}
          </div>
        );
      })}
      <div
        class="grid-space"
        role="presentation"
        style={{ height: `${Math.max(0, total - (offsets[last] ?? total))}px` }}
      />
    </div>
  );
}

/** Where each item begins, and the end of the last. */
function offsetsOf(items: readonly GridItem[]): readonly number[] {
  const offsets = [0];
  let at = 0;
  for (const { height } of items) {
    at += height;
    offsets.push(at);
  }
  return offsets;
}

/** The last item that begins at or before a place. */
function firstAfter(offsets: readonly number[], place: number): number {
  let low = 0;
  let high = offsets.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((offsets[middle] ?? 0) <= place) low = middle;
    else high = middle - 1;
  }
  return low;
}
