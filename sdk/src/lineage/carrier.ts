import { workerData } from "node:worker_threads";
import { context, type SpanContext, trace } from "@opentelemetry/api";
import { W3CBaggagePropagator, W3CTraceContextPropagator } from "@opentelemetry/core";
import { identifierFrom } from "../argument.ts";
import type { Environment } from "../configuration-otlp.ts";

/** A child as others refer to it: the delegator of whatever is created below it. */
export interface ChildReference {
  readonly childId: string;
  readonly rootChildId: string;
}

/**
 * What travels to a process or thread that a child delegates to, as environment variables: who delegates, and the trace
 * and baggage of the moment, under the names of the OpenTelemetry environment carrier (`TRACEPARENT`, `TRACESTATE`,
 * `BAGGAGE`).
 */
export type Carrier = Readonly<Record<string, string>>;

/** What a process or thread has been given on its way. */
export interface Inheritance {
  readonly parent?: ChildReference;
  readonly spanContext?: SpanContext;
}

const PARENT_VARIABLE = "AGENT_LIFECYCLE_PARENT_CHILD_ID";
const ROOT_VARIABLE = "AGENT_LIFECYCLE_ROOT_CHILD_ID";
/** The member of `workerData` that holds a carrier. */
export const WORKER_DATA_MEMBER = "agentLifecycle";

const traceContext = new W3CTraceContextPropagator();
const baggage = new W3CBaggagePropagator();

/** @param inherited the trace that holds where none is active */
export function carrierOf({ childId, rootChildId }: ChildReference, inherited: SpanContext | undefined): Carrier {
  const carrier: Record<string, string> = { [PARENT_VARIABLE]: childId, [ROOT_VARIABLE]: rootChildId };
  const active = context.active();
  const traced =
    inherited === undefined || trace.getSpanContext(active) !== undefined
      ? active
      : trace.setSpanContext(active, inherited);
  const setter = {
    set: (_carrier: unknown, key: string, value: string): void => {
      carrier[key.toUpperCase()] = value;
    },
  };
  traceContext.inject(traced, carrier, setter);
  baggage.inject(traced, carrier, setter);
  return carrier;
}

/** Reads what was carried here: to this thread, else to this process. Anything that is not well-formed is absent. */
export function inheritanceFrom(environment: Environment, data: unknown = workerData): Inheritance {
  const carrier = carrierIn(data) ?? environment;
  const childId = identifierFrom(carrier[PARENT_VARIABLE]);
  const spanContext = spanContextFrom(carrier);
  return {
    ...(childId === undefined
      ? undefined
      : { parent: { childId, rootChildId: identifierFrom(carrier[ROOT_VARIABLE]) ?? childId } }),
    ...(spanContext === undefined ? undefined : { spanContext }),
  };
}

function carrierIn(data: unknown): Environment | undefined {
  if (typeof data !== "object" || data === null) return undefined;
  const carrier = (data as Readonly<Record<string, unknown>>)[WORKER_DATA_MEMBER];
  return typeof carrier === "object" && carrier !== null ? (carrier as Environment) : undefined;
}

function spanContextFrom(carrier: Environment): SpanContext | undefined {
  const extracted = traceContext.extract(context.active(), carrier, {
    get: (from: Environment, key: string) => {
      const value: unknown = from[key.toUpperCase()];
      return typeof value === "string" ? value : undefined;
    },
    keys: (from: Environment) => Object.keys(from),
  });
  const spanContext = trace.getSpanContext(extracted);
  // Without a carried one, extraction leaves what is active here.
  return spanContext?.isRemote === true ? spanContext : undefined;
}
