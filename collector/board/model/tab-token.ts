const KEY = "agent-lifecycle-read-token";

/** Where the token is kept: for this tab, as long as it is open; in no address, no cookie and no file. */
export function readToken(): string | undefined {
  return sessionStorage.getItem(KEY) ?? undefined;
}

export function rememberToken(token: string): void {
  sessionStorage.setItem(KEY, token.trim());
}

export function forgetToken(): void {
  sessionStorage.removeItem(KEY);
}
