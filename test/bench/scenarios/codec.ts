import {
  canonicalEvent,
  type DecodedLogs,
  decodeLogsJson,
  decodeLogsProtobuf,
  type LifecycleEvent,
  normalizeEvent,
  parseCanonicalEvent,
} from "@agent-lifecycle/proto";
import { eventStream } from "../load/event-stream.ts";
import { BATCH_SIZE, encodeRequest } from "../load/requests.ts";
import type { Figure } from "../measure/figure.ts";
import { keep, ratesInTurns } from "../measure/rounds.ts";
import type { ScenarioContext } from "../scenario.ts";

/** What each step of an event's way in and out costs, one thread, against the engine's own JSON. */
export async function measureCodec({ quick }: ScenarioContext): Promise<readonly Figure[]> {
  const sent = eventStream(quick ? 8_192 : 16_384);
  const requests = Array.from({ length: sent.length / BATCH_SIZE }, (_, request) =>
    sent.slice(request * BATCH_SIZE, (request + 1) * BATCH_SIZE),
  );
  const protobuf = requests.map((request) => encodeRequest(request, "protobuf"));
  const json = requests.map((request) => encodeRequest(request, "json").toString());
  const candidates = protobuf.flatMap((body) => candidatesOf(decodeLogsProtobuf(body)));
  const events = candidates.map(eventOf);
  const lines = events.map(canonicalEvent);

  const doEach = <Item>(items: readonly Item[], work: (item: Item) => unknown) => {
    return (): number => {
      for (const item of items) keep(work(item));
      return events.length;
    };
  };
  const rates = await ratesInTurns(
    {
      parseRequest: doEach(json, (text) => JSON.parse(text) as unknown),
      decodeProtobuf: doEach(protobuf, decodeLogsProtobuf),
      decodeJson: doEach(json, (text) => decodeLogsJson(JSON.parse(text))),
      parseLine: doEach(lines, (line) => JSON.parse(line) as unknown),
      normalize: doEach(candidates, normalizeEvent),
      parseCanonical: doEach(lines, parseCanonicalEvent),
      stringify: doEach(events, (event: LifecycleEvent) => JSON.stringify(event)),
      canonical: doEach(events, canonicalEvent),
      encodeProtobuf: doEach(requests, (request) => encodeRequest(request, "protobuf")),
      encodeJson: doEach(requests, (request) => encodeRequest(request, "json")),
    },
    { rounds: quick ? 3 : 7, warmUps: 5 },
  );

  const figure = (what: string, samples: readonly number[], name: string, baseline: readonly number[]): Figure => ({
    what,
    unit: "events/s",
    samples,
    baseline: { name, samples: baseline },
  });
  const parseRequest = "JSON.parse of the OTLP/JSON request";
  const parseLine = "JSON.parse of the event";
  const stringify = "JSON.stringify of the event";
  return [
    figure("decode OTLP protobuf", rates.decodeProtobuf, parseRequest, rates.parseRequest),
    figure("decode OTLP/JSON, parsing included", rates.decodeJson, parseRequest, rates.parseRequest),
    figure("normalize, redact", rates.normalize, parseLine, rates.parseLine),
    figure("canonical text", rates.canonical, stringify, rates.stringify),
    figure("parse canonical text", rates.parseCanonical, parseLine, rates.parseLine),
    figure("encode OTLP protobuf", rates.encodeProtobuf, stringify, rates.stringify),
    figure("encode OTLP/JSON", rates.encodeJson, stringify, rates.stringify),
  ];
}

/** The event as it is once it has arrived. */
function eventOf(candidate: unknown): LifecycleEvent {
  const normalized = normalizeEvent(candidate);
  if (!normalized.ok) throw new Error(JSON.stringify(normalized.diagnostic));
  return normalized.event;
}

function candidatesOf(decoded: DecodedLogs): readonly unknown[] {
  if (!decoded.ok) throw new Error(decoded.problem);
  return decoded.records.map((record) => (record.foreign ? undefined : record.candidate));
}
