import { parser as logql } from "@grafana/lezer-logql";
import { parser as traceql } from "@grafana/lezer-traceql";
import type { SyntaxNode, Tree } from "@lezer/common";
import { parser as promql } from "@prometheus-io/lezer-promql";

/** The names that a query is about. */
export interface QueryNames {
  /** Whether its grammar takes the whole of it. */
  readonly isValid: boolean;
  readonly metrics: readonly string[];
  readonly labels: readonly string[];
}

/** Grafana puts these in before a back end sees the query. */
function withoutMacros(query: string): string {
  return query
    .replaceAll("$__rate_interval", "5m")
    .replaceAll("$__range", "1h")
    .replaceAll("$__auto", "1m")
    .replaceAll(/\$[a-z_]+/g, "value");
}

export function promqlNames(query: string): QueryNames {
  const text = withoutMacros(query);
  const found = namesIn(promql.parse(text), text);
  return {
    isValid: found.isValid,
    metrics: found.of(({ name, parent }) => name === "Identifier" && parent?.name === "VectorSelector"),
    labels: found.of(({ name }) => name === "LabelName"),
  };
}

export function logqlNames(query: string): QueryNames {
  const text = withoutMacros(query);
  const found = namesIn(logql.parse(text), text);
  return {
    isValid: found.isValid,
    metrics: [],
    labels: found.of(({ name, parent }) => name === "Identifier" && ["Matcher", "Labels"].includes(parent?.name ?? "")),
  };
}

/** Attributes of spans, without the scope before them. */
export function traceqlNames(query: string): QueryNames {
  const text = withoutMacros(query);
  const found = namesIn(traceql.parse(text), text);
  return {
    isValid: found.isValid,
    metrics: [],
    labels: found.of(({ name, parent }) => name === "Identifier" && parent?.name === "AttributeField"),
  };
}

function namesIn(
  tree: Tree,
  text: string,
): { readonly isValid: boolean; of(is: (node: SyntaxNode) => boolean): readonly string[] } {
  const nodes: SyntaxNode[] = [];
  tree.iterate({ enter: ({ node }) => void nodes.push(node) });
  return {
    isValid: nodes.length > 1 && !nodes.some(({ type }) => type.isError),
    of: (is) => [...new Set(nodes.filter(is).map(({ from, to }) => text.slice(from, to)))],
  };
}
