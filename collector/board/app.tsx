import type { JSX } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { LifecycleClient } from "../src/client/lifecycle-client.ts";
import { type Address, VIEWS, type ViewName } from "./model/address.ts";
import { BoardModel } from "./model/board-model.ts";
import { BoardContext, useBoard, useLook, useModel } from "./model/use-board.ts";
import { ConnectionLine } from "./parts/connection-line.tsx";
import { Counts } from "./parts/counts.tsx";
import { KeyHelp } from "./parts/key-help.tsx";
import { SearchBar } from "./parts/search-bar.tsx";
import { TokenForm } from "./parts/token-form.tsx";
import { ChildPage } from "./views/child-view.tsx";
import { DiagnosticsView } from "./views/diagnostics-view.tsx";
import { NowView } from "./views/now-view.tsx";
import { SourcesView } from "./views/sources-view.tsx";
import { TimelineView } from "./views/timeline-view.tsx";
import { TreeView } from "./views/tree-view.tsx";

/** D2, to the letter; a test holds it against the contract's. */
const UNAVAILABLE = "Background work visibility unavailable; state unknown.";

/** Where the token is kept. Without it, the host answers for the token, and the board does not ask. */
export interface TokenKeeper {
  readToken(): string | undefined;
  rememberToken(token: string): void;
  forgetToken(): void;
}

interface BoardAppProps {
  readonly client: LifecycleClient;
  readonly address: Address;
  readonly token?: TokenKeeper;
}

/** The whole board. It shows what the collector knows, and claims nothing else. */
export function BoardApp({ client, address, token }: BoardAppProps): JSX.Element {
  const model = useMemo(() => new BoardModel(client), [client]);
  useEffect(() => model.start(), [model]);
  const board = useMemo(() => ({ model, address }), [model, address]);
  return (
    <BoardContext.Provider value={board}>
      <Frame token={token} />
    </BoardContext.Provider>
  );
}

const VIEW_WORDS: Readonly<Record<ViewName, string>> = {
  now: "Now",
  tree: "Tree",
  timeline: "Timeline",
  sources: "Sources",
  diagnostics: "Diagnostics",
};

function Frame({ token }: { readonly token: TokenKeeper | undefined }): JSX.Element {
  const model = useModel();
  const { look } = useLook();
  const [isHelpOpen, setHelpOpen] = useState(false);
  const frame = useRef<HTMLDivElement>(null);
  useKeys(frame, () => setHelpOpen(true));
  const { summary, connection } = model;
  const isUnseen = summary !== undefined && !summary.evidenceSeen;
  return (
    <div class="board" ref={frame} data-connection={connection.kind}>
      {/* biome-ignore lint/a11y/useValidAnchor: it leads to a place on the page, inside a shadow root too */}
      <a class="skip" href="#board-main" onClick={(event) => jumpToMain(event, frame.current)}>
        Skip to the children
      </a>
      <header class="top">
        <h1>Agent lifecycle</h1>
        <Tabs />
        <ConnectionLine />
        <button type="button" class="plain" aria-label="Keys" onClick={() => setHelpOpen(true)}>
          ?
        </button>
      </header>
      {connection.kind === "refused" && token !== undefined && <Token keeper={token} status={connection.status} />}
      {summary?.evidenceSeen === true && (
        <>
          <Counts summary={summary} />
          <SearchBar />
        </>
      )}
      <main id="board-main" tabIndex={-1}>
        {isUnseen && look.view !== "diagnostics" && (
          <p id="unavailable" role="status">
            {UNAVAILABLE}
          </p>
        )}
        {summary !== undefined && (summary.evidenceSeen || look.view === "diagnostics") && <CurrentView />}
      </main>
      {isHelpOpen && <KeyHelp onClose={() => setHelpOpen(false)} />}
    </div>
  );
}

function CurrentView(): JSX.Element {
  const { look } = useLook();
  if (look.child !== undefined) return <ChildPage source={look.child.source} childId={look.child.childId} />;
  switch (look.view) {
    case "now":
      return <NowView />;
    case "tree":
      return <TreeView />;
    case "timeline":
      return <TimelineView />;
    case "sources":
      return <SourcesView />;
    case "diagnostics":
      return <DiagnosticsView />;
  }
}

function Tabs(): JSX.Element {
  const { address } = useBoard();
  const { look, go } = useLook();
  return (
    <nav aria-label="Views">
      {VIEWS.map((view) => (
        <a
          key={view}
          href={address.href({ ...look, view, child: undefined })}
          {...(look.view === view && look.child === undefined ? { "aria-current": "page" as const } : {})}
          onClick={(event) => {
            if (event.ctrlKey || event.metaKey || event.shiftKey) return;
            event.preventDefault();
            go({ view, child: undefined });
          }}
        >
          {VIEW_WORDS[view]}
        </a>
      ))}
    </nav>
  );
}

function Token({ keeper, status }: { readonly keeper: TokenKeeper; readonly status: 401 | 403 }): JSX.Element {
  const { model } = useBoard();
  const wasShown = keeper.readToken() !== undefined;
  const problem = status === 401 ? "This token is not known here." : "This token is not for reading.";
  return (
    <TokenForm
      problem={wasShown ? problem : ""}
      onToken={(token) => {
        keeper.rememberToken(token);
        model.restart();
      }}
    />
  );
}

function jumpToMain(event: Event, frame: HTMLElement | null): void {
  event.preventDefault();
  frame?.querySelector<HTMLElement>("#board-main")?.focus();
}

/** Single keys, as long as nothing is typed into. */
function useKeys(frame: { readonly current: HTMLElement | null }, openHelp: () => void): void {
  const { address } = useBoard();
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const [target] = event.composedPath();
      const isTyping = target instanceof HTMLElement && target.matches("input:not([type=range]), select, textarea");
      const look = address.current();
      if (event.key === "Escape" && look.child !== undefined) {
        address.go({ ...look, child: undefined });
        return;
      }
      if (isTyping) return;
      const view = VIEWS[Number(event.key) - 1];
      if (view !== undefined) address.go({ ...look, view, child: undefined });
      else if (event.key === "/") {
        event.preventDefault();
        frame.current?.querySelector<HTMLElement>("#filter")?.focus();
      } else if (event.key === "?") openHelp();
    };
    const place = frame.current?.getRootNode() ?? document;
    place.addEventListener("keydown", onKey as EventListener);
    return () => place.removeEventListener("keydown", onKey as EventListener);
  }, [address]);
}
