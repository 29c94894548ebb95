import {
  AuthoritySchedule,
  type AuthorityStatement,
  DEFAULT_ASKING_POLICY,
  type Question,
} from "@agent-lifecycle/collector/projection";
import { describe, expect, test } from "vitest";

const { intervalMs, pauseMs, retryMs, maxRetryMs } = DEFAULT_ASKING_POLICY;
const EMPTY: AuthorityStatement = { epoch: "e-1", isComplete: true, coverage: "all", listed: new Set() };

function scheduleOf(random: () => number = () => 0): AuthoritySchedule {
  return new AuthoritySchedule(0, random);
}

/** @throws when nothing is due. */
function take(schedule: AuthoritySchedule, now: number): Question {
  const question = schedule.take(now);
  if (question === undefined) throw new Error(`nothing is due at ${now}`);
  return question;
}

/** A schedule whose first question was asked and answered at 0. */
function answeredSchedule(statement: AuthorityStatement = EMPTY): AuthoritySchedule {
  const schedule = scheduleOf();
  schedule.answered(take(schedule, 0), statement, 0);
  return schedule;
}

describe("an authority is asked", () => {
  test("when its session opens", () => {
    expect(scheduleOf().take(0)).toEqual({ askedAt: 0, reasons: ["session_open"] });
  });

  test("at every interval after an answer, a little later at random", () => {
    const punctual = answeredSchedule();
    expect(punctual.take(intervalMs - 1)).toBeUndefined();
    expect(punctual.take(intervalMs)?.reasons).toEqual(["interval"]);
    const late = scheduleOf(() => 0.999);
    late.answered(take(late, 0), EMPTY, 0);
    expect(late.take(intervalMs)).toBeUndefined();
    expect(late.take(intervalMs * 1.2)?.reasons).toEqual(["interval"]);
  });

  test("once for all that want it at the same time", () => {
    const schedule = answeredSchedule();
    for (let child = 0; child < 1_000; child += 1) schedule.want("stale", 5_000);
    schedule.want("reconnect", 5_000);
    expect(schedule.take(5_000)?.reasons).toEqual(["stale", "reconnect"]);
    expect(schedule.take(5_000)).toBeUndefined();
  });

  test("again after a question that was on its way: its answer may have been taken before the wish", () => {
    const schedule = scheduleOf();
    const first = take(schedule, 0);
    schedule.want("stale", 10);
    expect(schedule.take(20)).toBeUndefined();
    schedule.answered(first, EMPTY, 100);
    expect(schedule.take(100 + pauseMs - 1)).toBeUndefined();
    expect(schedule.take(100 + pauseMs)?.reasons).toEqual(["stale"]);
  });

  test("less and less often while it fails, and not sooner for a child that goes stale", () => {
    const schedule = scheduleOf();
    let now = 0;
    for (const waitMs of [retryMs, 2 * retryMs, 4 * retryMs]) {
      schedule.failed(take(schedule, now), "refused", now);
      schedule.want("stale", now);
      expect(schedule.take(now + waitMs - 1)).toBeUndefined();
      now += waitMs;
    }
    for (let failure = 0; failure < 100; failure += 1) {
      schedule.failed(take(schedule, now), "refused", now);
      now += maxRetryMs;
    }
    expect(schedule.status).toMatchObject({ failures: 103, failuresInARow: 103, lastFailure: "refused" });
  });

  test("at once when it comes back, however long it failed", () => {
    const schedule = scheduleOf();
    for (let failure = 0, now = 0; failure < 10; failure += 1, now += maxRetryMs) {
      schedule.failed(take(schedule, now), "refused", now);
    }
    const now = 9 * maxRetryMs + 1;
    expect(schedule.take(now)).toBeUndefined();
    schedule.want("reconnect", now);
    schedule.answered(take(schedule, now), EMPTY, now);
    expect(schedule.status).toMatchObject({ failuresInARow: 0, lastFailure: undefined, lastAnsweredAt: now });
  });
});

describe("what an authority says about a child at the deadline", () => {
  const asked = (statement: AuthorityStatement): AuthoritySchedule => answeredSchedule(statement);

  test("counts only when it was asked after the question arose", () => {
    const schedule = asked({ ...EMPTY, listed: new Set(["a"]) });
    expect(schedule.answerAbout("a", 1)).toBe("unreachable");
    schedule.answered(take(schedule, intervalMs), { ...EMPTY, listed: new Set(["a"]) }, intervalMs + 5);
    expect(schedule.answerAbout("a", intervalMs)).toBe("lists_child");
    expect(schedule.answerAbout("a", intervalMs + 1)).toBe("unreachable");
  });

  test("is an omission when it covers the child and is complete", () => {
    expect(asked(EMPTY).answerAbout("a", 0)).toBe("omits_child");
    expect(asked({ ...EMPTY, coverage: new Set(["a"]) }).answerAbout("a", 0)).toBe("omits_child");
  });

  test("is nothing when it does not cover the child, or not everything it covers", () => {
    expect(asked({ ...EMPTY, coverage: new Set(["b"]) }).answerAbout("a", 0)).toBe("says_nothing");
    expect(asked({ ...EMPTY, isComplete: false }).answerAbout("a", 0)).toBe("says_nothing");
    expect(asked({ ...EMPTY, isComplete: false, listed: new Set(["a"]) }).answerAbout("a", 0)).toBe("lists_child");
  });

  test("is still what it last said when a later question failed", () => {
    const schedule = asked({ ...EMPTY, listed: new Set(["a"]) });
    schedule.failed(take(schedule, intervalMs), "refused", intervalMs);
    expect(schedule.answerAbout("a", 0)).toBe("lists_child");
    expect(schedule.answerAbout("a", intervalMs)).toBe("unreachable");
  });
});

test("an answer to a question that was given up changes nothing", () => {
  const schedule = scheduleOf();
  const first = take(schedule, 0);
  schedule.failed(first, "no answer in time", 10);
  schedule.answered(first, EMPTY, 20);
  expect(schedule.status).toMatchObject({ answers: 0, failures: 1, nextDueAt: 10 + retryMs });
});
