/**
 * Which member names announce a secret (N3). The decision is made on whole words, so that `secretary` and `tokenizer`
 * announce nothing, and on what the words say about each other: `input_tokens` counts, `token_url` describes.
 */

/** Words that announce a secret wherever they stand. Run-together spellings are words of their own. */
const SECRET_WORDS: ReadonlySet<string> = new Set(
  (
    "password passwords passwd passwds pwd pword passphrase passphrases passcode secret secrets token tokens credential " +
    "credentials creds cookie cookies authorization bearer jwt otp totp apikey apikeys apisecret apitoken accesskey " +
    "accesstoken authkey authtoken clientsecret idtoken oauthtoken privatekey refreshtoken secretkey secretaccesskey " +
    "sessiontoken setcookie signingkey xapikey dbpassword userpassword mypassword"
  ).split(" "),
);

/** `key` says nothing by itself (`sort_key`); after one of these it is a secret. */
const KEY_QUALIFIERS: ReadonlySet<string> = new Set(
  (
    "access account aes api app application auth client consumer decryption deploy ecdsa encryption gpg hmac host license " +
    "master pgp priv private rsa secret server service shared signing ssh storage subscription tls webhook"
  ).split(" "),
);

/** `pass` is a result or a round as well (`first_pass`); after one of these it is short for a password. */
const PASS_QUALIFIERS: ReadonlySet<string> = new Set(
  (
    "admin amqp basic broker database db email ftp git http imap keystore ldap login mail mariadb mongo mongodb mysql pg pop3 " +
    "postgres postgresql proxy rabbitmq redis registry root server sftp smtp sql ssh sudo tls truststore user vnc vpn wifi"
  ).split(" "),
);

/** A name that ends in one of these speaks about a secret and does not hold it: `token_count`, `passwordPolicy`. */
const DESCRIPTORS: ReadonlySet<string> = new Set(
  (
    "age algorithm allowed at available banner bits budget bytes characters chars consent consumed consumption cost costs " +
    "count counts counter counters created delta description dir directory domain duration enabled endpoint error errors " +
    "estimate exists expected expires expiration expiry file filename format found id ids in index invalid issuer jar kind label " +
    "left length limit limits lifetime location manager max maximum min minimum missing mode ms name names needed offset " +
    "parser path paths percent percentage per policy prefix present price pricing provider quota rate ratio reason ref " +
    "reference references remaining required rotated rotation scope scopes second seconds sent server shown size source stats status " +
    "store storage tier total totals ttl type types updated uri url usage used valid validation version visible window"
  ).split(" "),
);

/** Before or after `token(s)` these make a counter or a limit: `maxTokens`, `cached_input_tokens`, `tokens_per_second`. */
const COUNTING_WORDS: ReadonlySet<string> = new Set(
  (
    "accepted audio average avg batch billed budget budgeted cache cached completion context creation estimated generated " +
    "image input limit max maximum min minimum num number of output per predicted predict prediction processed prompt read " +
    "reasoning rejected remaining response request sampled special text thinking thought total unused used video window write"
  ).split(" "),
);

const PLURALS: ReadonlySet<string> = new Set([
  "passwords",
  "passwds",
  "passphrases",
  "secrets",
  "tokens",
  "cookies",
  "apikeys",
]);

/**
 * How a name announces what it holds. `never`: nothing secret. `countable`: a plural, so a number is a count and not
 * a secret. `always`: anything but a flag or nothing is a secret.
 */
export type NameVerdict = "never" | "countable" | "always";

// Every secret name contains one of these; ordinary names are dismissed by this one test.
const HINT = /pass|pw|secret|token|cred|auth|cook|bearer|key|jwt|otp/i;
const WORD = /[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+/g;
const LONGEST_NAME = 128;

/** Decides by the words of a name in camelCase, PascalCase, snake_case, kebab-case, dots or capitals. */
export function verdictOnName(name: string): NameVerdict {
  if (!HINT.test(name)) return "never";
  if (name.length > LONGEST_NAME) return verdictOnWords(wordsOf(name.slice(-LONGEST_NAME)));
  const known = VERDICTS.get(name);
  if (known !== undefined) return known;
  const verdict = verdictOnWords(wordsOf(name));
  if (VERDICTS.size >= MAX_VERDICTS) VERDICTS.clear();
  VERDICTS.set(name, verdict);
  return verdict;
}

// The same few names come again and again, `inputTokens` with every report of what was used.
const VERDICTS = new Map<string, NameVerdict>();
const MAX_VERDICTS = 256;

function wordsOf(name: string): readonly string[] {
  const words: string[] = [];
  for (const word of name.match(WORD) ?? []) words.push(word.toLowerCase());
  // `apiKey2` and `TOKEN_1` are spare copies of the same thing.
  while (words.length > 1 && /^\d/.test(words.at(-1) ?? "")) words.pop();
  return words;
}

function verdictOnWords(words: readonly string[]): NameVerdict {
  const last = words.at(-1);
  if (last === undefined || (words.length > 1 && DESCRIPTORS.has(last))) return "never";
  const position = words.findLastIndex((word, index) => SECRET_WORDS.has(word) || isQualified(word, words[index - 1]));
  if (position < 0) return isPrivateAuth(words) ? "always" : "never";
  const word = words[position] as string;
  if (word === "token" || word === "tokens") {
    const counts = words.some((other, index) => index !== position && COUNTING_WORDS.has(other));
    if (counts) return "never";
  }
  return PLURALS.has(word) || word === "credentials" || word === "creds" ? "countable" : "always";
}

function isQualified(word: string, before: string | undefined): boolean {
  if (before === undefined) return false;
  return word === "pass" ? PASS_QUALIFIERS.has(before) : /^keys?$/.test(word) && KEY_QUALIFIERS.has(before);
}

/** `_auth`, `.dockerconfig` `auth` members: credentials in base64. Only when the name says nothing else. */
function isPrivateAuth(words: readonly string[]): boolean {
  return words.length === 1 && (words[0] === "auth" || words[0] === "xauth");
}

const DECIMAL = /^\s*\d[\d,._]*\s*$/;
const ABSOLUTE_PATH = /^(?:~?\/|[A-Za-z]:[\\/])/;

/** `PWD` is a shell's name for a folder as well as short for a password. */
export function isWorkingDirectory(name: string, value: string): boolean {
  return name.toLowerCase() === "pwd" && ABSOLUTE_PATH.test(value);
}

/**
 * Whether a member holds a secret, by its name and the kind of its value. Flags, `null` and empty text are never
 * secrets; a number under a plural (`tokens: 812`) counts something.
 */
export function isSecretMember(name: string, value: unknown): boolean {
  const verdict = verdictOnName(name);
  if (verdict === "never" || value === null || value === undefined || typeof value === "boolean" || value === "") {
    return false;
  }
  if (verdict === "always") return typeof value !== "string" || !isWorkingDirectory(name, value);
  return typeof value === "string" ? !DECIMAL.test(value) : typeof value === "object" && !isCount(value);
}

/** `tokens: { input: 5, output: 7 }` counts; `tokens: ["…"]` and `credentials: { user: "…" }` hold secrets. */
function isCount(value: object): boolean {
  const members = Object.values(value);
  return members.every((member) => typeof member !== "string" && (typeof member !== "object" || member === null));
}

/** Whether an argument announces that the next one is a secret: `--api-key`, `-password`. */
export function isSecretFlag(argument: unknown): boolean {
  return typeof argument === "string" && FLAG.test(argument) && verdictOnName(argument) === "always";
}

const FLAG = /^--?[A-Za-z][\w-]{1,126}$/;
