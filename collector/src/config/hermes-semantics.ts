import { type ConfiguredHermes, receiversInUse } from "./components.ts";
import type { ReceiversConfiguration } from "./configuration.ts";
import type { HermesReceiverConfiguration, HermesStdioConfiguration } from "./hermes-configuration.ts";
import type { ConfigurationPath, ConfigurationProblem } from "./problem.ts";

/**
 * What is wrong with the gateways of Hermes, those that do not run among them. No text holds a credential.
 * @param used the ids of the receivers that are to run
 */
export function hermesProblems(
  receivers: ReceiversConfiguration,
  used: readonly string[],
): readonly ConfigurationProblem[] {
  const gateways = receiversInUse({ receivers, service: { receivers: Object.keys(receivers) } }).filter(isHermes);
  const running = gateways.filter(({ id }) => used.includes(id));
  return [...gateways.flatMap(gatewayProblems), ...running.flatMap(secondAuthorityProblems)];
}

function isHermes(receiver: { readonly type: string }): receiver is ConfiguredHermes {
  return receiver.type === "hermes";
}

function gatewayProblems({ id, settings }: ConfiguredHermes): readonly ConfigurationProblem[] {
  const path = ["receivers", id];
  const { source, url, stdio } = settings;
  return [
    ...(source.trim() === source && source !== "" ? [] : [{ path: [...path, "source"], text: "must be a name" }]),
    ...((url === undefined) === (stdio === undefined) ? [{ path, text: "needs either url or stdio" }] : []),
    ...(url === undefined ? [] : urlProblems([...path, "url"], url)),
    ...(stdio === undefined ? [] : stdioProblems([...path, "stdio"], stdio)),
    ...credentialProblems(path, settings),
    ...quantityProblems(path, settings),
  ];
}

function urlProblems(path: ConfigurationPath, text: string): readonly ConfigurationProblem[] {
  if (!URL.canParse(text)) return [{ path, text: "must be an address such as ws://127.0.0.1:9119/api/ws" }];
  const { protocol, username, password, search, hash } = new URL(text);
  return [
    ...(protocol === "ws:" || protocol === "wss:" ? [] : [{ path, text: "must begin with ws:// or wss://" }]),
    ...(username === "" && password === "" && search === "" && hash === ""
      ? []
      : [
          {
            path,
            text: "must hold neither credentials nor parameters: token and login_cookie have members of their own",
          },
        ]),
  ];
}

const CREDENTIALS = [
  ["token", "token"],
  ["token_file", "tokenFile"],
  ["login_cookie", "loginCookie"],
  ["login_cookie_file", "loginCookieFile"],
] as const;

function credentialProblems(
  path: ConfigurationPath,
  settings: HermesReceiverConfiguration,
): readonly ConfigurationProblem[] {
  const stated = CREDENTIALS.filter(([, member]) => settings[member] !== undefined).map(([name]) => name);
  if (stated.length > 0 && settings.url === undefined) {
    return [{ path: [...path, String(stated[0])], text: "is for a url: a gateway of our own lets us in" }];
  }
  for (const [name, member] of CREDENTIALS.filter(([each]) => !each.endsWith("_file"))) {
    if (/^[\x20-\x7e]*$/.test(settings[member] ?? "")) continue;
    return [{ path: [...path, name], text: "must be one line of printable ASCII" }];
  }
  return stated.length > 1 ? [{ path, text: `needs one credential, not ${stated.join(" and ")}` }] : [];
}

/** Neither a program nor its environment can be handed a text that holds a NUL. */
function stdioProblems(
  path: ConfigurationPath,
  { command, environment }: HermesStdioConfiguration,
): readonly ConfigurationProblem[] {
  const problems: ConfigurationProblem[] = [];
  if (command.length === 0 || command.some((part) => part === "" || part.includes("\0"))) {
    problems.push({ path: [...path, "command"], text: "must name a program" });
  }
  for (const [name, value] of environment) {
    if (/^[^=\0]+$/.test(name) && !value.includes("\0")) continue;
    problems.push({ path: [...path, "environment", name], text: "is no variable of an environment" });
  }
  return problems;
}

function quantityProblems(
  path: ConfigurationPath,
  { pollIntervalMs, maxFrameBytes, requestTimeoutMs, silenceTimeoutMs }: HermesReceiverConfiguration,
): readonly ConfigurationProblem[] {
  const quantities = {
    poll_interval: pollIntervalMs,
    max_frame: maxFrameBytes,
    request_timeout: requestTimeoutMs,
    silence_timeout: silenceTimeoutMs,
  };
  return Object.entries(quantities).flatMap(([name, value]) =>
    Number.isSafeInteger(value) && value > 0
      ? []
      : [{ path: [...path, name], text: `must be a whole number above 0, not ${value}` }],
  );
}

/** Two gateways that spoke for one source would deny each other's children. */
function secondAuthorityProblems(
  { id, settings: { source } }: ConfiguredHermes,
  index: number,
  running: readonly ConfiguredHermes[],
): readonly ConfigurationProblem[] {
  const first = running.slice(0, index).find((other) => other.settings.source === source);
  if (first === undefined) return [];
  return [
    { path: ["receivers", id, "source"], text: `${first.id} speaks for this source already: each needs its own` },
  ];
}
