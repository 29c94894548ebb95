import { type ConfiguredHermes, receiversInUse, snapshotSourcesInUse } from "../config/components.ts";
import type { CollectorConfiguration, TlsConfiguration } from "../config/configuration.ts";
import type { ConfigurationPath, ConfigurationProblem } from "../config/problem.ts";
import { MAX_CREDENTIAL_BYTES } from "../receivers/hermes/gateway-address.ts";
import { grantProblems } from "../security/grant-problems.ts";
import { readSecretFile } from "../security/secret-file.ts";
import { checkTlsMaterial } from "../security/tls-material.ts";
import type { TokenGrant } from "../security/token-access.ts";
import { readTokenFile } from "../security/token-file.ts";
import { messageOf } from "./command-error.ts";

interface Findings {
  readonly problems: ConfigurationProblem[];
  readonly warnings: ConfigurationProblem[];
}

const MAX_CERTIFICATE_BYTES = 1024 * 1024;

/** What is wrong, or only unwise, with the files of tokens and certificates, and with the tokens in them. */
export function secretFileFindings(configuration: CollectorConfiguration): Findings {
  const findings: Findings = { problems: [], warnings: [] };
  checkTokens(configuration, findings);
  for (const receiver of receiversInUse(configuration)) {
    if (receiver.type === "hermes") checkGatewayCredential(receiver, findings);
  }
  const { http, grpc } = configuration.receivers.otlp?.protocols ?? {};
  const protocols = ["receivers", "otlp", "protocols"];
  checkCertificates([...protocols, "http", "tls"], http?.tls, findings);
  checkCertificates([...protocols, "grpc", "tls"], grpc?.tls, findings);
  checkCertificates(["api", "tls"], configuration.api.tls, findings);
  checkSnapshotSources(configuration, findings);
  return findings;
}

function checkTokens({ access }: CollectorConfiguration, { problems, warnings }: Findings): void {
  const readable: TokenGrant[] = [];
  const pathOf = new Map<string, ConfigurationPath>();
  for (const [index, { tokenFile, token, ...grant }] of access.tokens.entries()) {
    const path = ["access", "tokens", index];
    try {
      const file = tokenFile === undefined ? undefined : readTokenFile(tokenFile);
      for (const text of file?.warnings ?? []) warnings.push({ path: [...path, "token_file"], text });
      const value = token ?? file?.token;
      if (value === undefined || pathOf.has(`tokens.${grant.name}`)) continue;
      readable.push({ ...grant, token: value });
      pathOf.set(`tokens.${grant.name}`, path);
    } catch (error) {
      problems.push({ path: [...path, "token_file"], text: messageOf(error) });
    }
  }
  for (const [index, { name }] of access.certificates.entries()) {
    pathOf.set(`certificates.${name}`, ["access", "certificates", index]);
  }
  for (const { path, text, severity } of grantProblems({ tokens: readable, certificates: access.certificates })) {
    const place = pathOf.get(path) ?? ["access", "tokens"];
    const index = place[2];
    const isFromFile =
      place[1] === "tokens" && typeof index === "number" && access.tokens[index]?.tokenFile !== undefined;
    if (severity === "warning") warnings.push({ path: place, text });
    // What is wrong with a token that stands in the configuration itself is told already.
    else if (isFromFile) problems.push({ path: place, text });
  }
}

/** What the questions to authorities need. */
function checkSnapshotSources(configuration: CollectorConfiguration, { problems, warnings }: Findings): void {
  for (const { type, id, settings } of snapshotSourcesInUse(configuration)) {
    if (type !== "http") continue;
    const path = ["snapshot_sources", id];
    const tried = (at: ConfigurationPath, read: () => readonly string[]): void => {
      try {
        for (const text of read()) warnings.push({ path: at, text });
      } catch (error) {
        problems.push({ path: at, text: messageOf(error) });
      }
    };
    const { tokenFile, tls } = settings;
    if (tokenFile !== undefined) tried([...path, "token_file"], () => readTokenFile(tokenFile).warnings);
    const files = { ca_file: tls?.caFile, cert_file: tls?.certFile, key_file: tls?.keyFile };
    for (const [member, file] of Object.entries(files)) {
      if (file === undefined) continue;
      tried([...path, "tls", member], () => {
        readSecretFile(file, MAX_CERTIFICATE_BYTES);
        return [];
      });
    }
  }
}

function checkGatewayCredential({ id, settings }: ConfiguredHermes, { problems, warnings }: Findings): void {
  const { tokenFile, loginCookieFile } = settings;
  for (const [member, file] of Object.entries({ token_file: tokenFile, login_cookie_file: loginCookieFile })) {
    if (file === undefined) continue;
    const path = ["receivers", id, member];
    try {
      const { isReadableByOthers } = readSecretFile(file, MAX_CREDENTIAL_BYTES);
      if (isReadableByOthers)
        warnings.push({ path, text: `${file} can be read by others than its owner: chmod 600 it` });
    } catch (error) {
      problems.push({ path, text: messageOf(error) });
    }
  }
}

function checkCertificates(path: ConfigurationPath, tls: TlsConfiguration | undefined, { problems }: Findings): void {
  if (tls === undefined) return;
  const read = (member: string, file: string | undefined): Buffer | undefined => {
    if (file === undefined) return undefined;
    try {
      return readSecretFile(file, MAX_CERTIFICATE_BYTES).content;
    } catch (error) {
      problems.push({ path: [...path, member], text: messageOf(error) });
      return undefined;
    }
  };
  const certificate = read("cert_file", tls.certFile);
  const privateKey = read("key_file", tls.keyFile);
  const clientAuthorities = read("client_ca_file", tls.clientCaFile);
  const hasAuthorities = tls.clientCaFile === undefined || clientAuthorities !== undefined;
  if (certificate === undefined || privateKey === undefined || !hasAuthorities) return;
  try {
    checkTlsMaterial({
      certificate,
      privateKey,
      ...(clientAuthorities === undefined ? undefined : { clientAuthorities }),
    });
  } catch (error) {
    problems.push({ path, text: messageOf(error) });
  }
}
