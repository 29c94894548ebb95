import type { CollectorConfiguration, TokenConfiguration } from "./configuration.ts";
import type { ConfigurationPath, ConfigurationProblem } from "./problem.ts";

/** What is wrong with the tokens. No text holds one. */
export function accessProblems({ access: { tokens } }: CollectorConfiguration): readonly ConfigurationProblem[] {
  return tokens.flatMap((token, index) => {
    const path = ["access", "tokens", index];
    return [...tokenProblems(token, path), ...repetitions(tokens, token, index, path)];
  });
}

function tokenProblems(token: TokenConfiguration, path: ConfigurationPath): readonly ConfigurationProblem[] {
  const problems: ConfigurationProblem[] = [];
  if (token.name === "") problems.push({ path: [...path, "name"], text: "must not be empty" });
  if ((token.token === undefined) === (token.tokenFile === undefined)) {
    problems.push({ path, text: "needs either token or token_file" });
  }
  if (token.token !== undefined && !isHeaderValue(token.token)) {
    const text = "must be printable ASCII without spaces, as it travels in a header";
    problems.push({ path: [...path, "token"], text });
  }
  if (token.scopes.length === 0) {
    problems.push({ path: [...path, "scopes"], text: "a token without a scope is good for nothing" });
  }
  if (token.sources?.length === 0) {
    const text = "an empty list lets it speak for no source; leave it out to let it speak for any";
    problems.push({ path: [...path, "sources"], text });
  }
  return problems;
}

function isHeaderValue(token: string): boolean {
  return /^[\x21-\x7e]+$/.test(token);
}

function repetitions(
  tokens: readonly TokenConfiguration[],
  token: TokenConfiguration,
  index: number,
  path: ConfigurationPath,
): readonly ConfigurationProblem[] {
  const earlier = tokens.slice(0, index);
  const problems: ConfigurationProblem[] = [];
  if (earlier.some(({ name }) => name === token.name)) {
    problems.push({ path: [...path, "name"], text: "another token has this name" });
  }
  if (token.token !== undefined && earlier.some((other) => other.token === token.token)) {
    problems.push({ path: [...path, "token"], text: "another entry has the same token: nobody could tell them apart" });
  }
  return problems;
}
