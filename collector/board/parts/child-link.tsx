import type { ComponentChildren, JSX } from "preact";
import { useBoard, useLook } from "../model/use-board.ts";

interface ChildLinkProps {
  readonly source: string;
  readonly childId: string;
  readonly children: ComponentChildren;
  /** Inside a grid the keyboard goes by rows. */
  readonly isInGrid?: boolean;
}

/** A link to everything about one child. */
export function ChildLink({ source, childId, children, isInGrid = false }: ChildLinkProps): JSX.Element {
  const { address } = useBoard();
  const { look, go } = useLook();
  const child = { source, childId };
  return (
    <a
      href={address.href({ ...look, child })}
      {...(isInGrid ? { tabIndex: -1 } : {})}
      onClick={(event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
        event.preventDefault();
        go({ child });
      }}
    >
      {children}
    </a>
  );
}
