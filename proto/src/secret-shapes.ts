import { signalOf } from "./secret-signals.ts";

/**
 * Secrets that show by their shape, whatever stands around them (N3). Every pattern begins with fixed text and repeats
 * one character class at a time, so that matching is linear; spans that may fail after a long run are bounded.
 */
export interface ShapeRule {
  /** All of these must be among a text's signals, or the rule cannot match. */
  readonly signals: number;
  readonly pattern: RegExp;
  readonly replacement: string;
}

const KEYS_WITH_UNDERSCORE: readonly string[] = [
  "gh[opusr]_[A-Za-z0-9]{16,}", // GitHub
  "github_pat_[A-Za-z0-9_]{16,}",
  "(?:sk|rk|pk|ssk)_(?:live|test)_[A-Za-z0-9]{10,}", // Stripe
  "whsec_[A-Za-z0-9+/=]{16,}",
  "npm_[A-Za-z0-9]{24,}",
  "hf_[A-Za-z0-9]{20,}", // Hugging Face
  "api_org_[A-Za-z0-9]{20,}",
  "do[opr]_v1_[A-Za-z0-9]{20,}", // DigitalOcean
  "shp(?:at|ca|pa|ss)_[A-Za-z0-9]{20,}", // Shopify
  "dckr_(?:pat|oat)_[\\w-]{16,}", // Docker
  "lin_(?:api|oauth)_[A-Za-z0-9]{20,}", // Linear
  "ntn_[A-Za-z0-9]{20,}", // Notion
  "secret_[A-Za-z0-9]{32,}",
  "figd_[\\w-]{20,}", // Figma
  "sntry[su]_[\\w+/=-]{20,}", // Sentry
  "gl(?:sa|c)_[\\w+/=]{20,}", // Grafana
  "sbp_[A-Za-z0-9]{20,}", // Supabase
  "sb_secret_[\\w-]{16,}",
  "gsk_[A-Za-z0-9]{20,}", // Groq
  "r8_[A-Za-z0-9]{20,}", // Replicate
  "fw_[A-Za-z0-9]{20,}", // Fireworks
  "lsv2_(?:pt|sk)_[\\w]{20,}", // LangSmith
  "pscale_(?:tkn|pw|oauth)_[\\w.=-]{16,}", // PlanetScale
  "rubygems_[a-f0-9]{32,}",
  "fo1_[\\w-]{20,}", // Fly
  "re_[A-Za-z0-9]{8}_[A-Za-z0-9]{16,}", // Resend
  "phx_[A-Za-z0-9]{24,}", // PostHog
  "nvapi_[\\w-]{20,}",
];

const KEYS_WITH_HYPHEN: readonly string[] = [
  "sk-(?:ant|proj|svcacct|admin|None|or|lf|live|test)-[\\w-]{12,}", // Anthropic, OpenAI, OpenRouter, Langfuse
  "sk-[A-Za-z0-9]{20,}",
  "gl(?:pat|dt|rt|cbt|ptt|ft|soat|imt|agent|oas|ffct)-[\\w-]{16,}(?:\\.[\\w.-]{1,64})?", // GitLab
  "xox[a-z]{1,2}-[A-Za-z0-9-]{10,}", // Slack
  "xapp-[A-Za-z0-9-]{16,}",
  "xwfp-[A-Za-z0-9-]{16,}",
  "pypi-[\\w-]{16,}",
  "GOCSPX-[\\w-]{16,}", // Google OAuth client
  "sq0(?:atp|csp|idp)-[\\w-]{20,}", // Square
  "PMAK-[A-Za-z0-9-]{20,}", // Postman
  "NRAK-[A-Za-z0-9]{20,}", // New Relic
  "pplx-[A-Za-z0-9]{20,}", // Perplexity
  "xai-[A-Za-z0-9]{20,}",
  "nvapi-[\\w-]{20,}", // NVIDIA
  "tvly-[A-Za-z0-9-]{20,}", // Tavily
  "HRKU-[\\w-]{20,}", // Heroku
  "AGE-SECRET-KEY-1[A-Z0-9]{20,}",
  "key-[a-f0-9]{32}", // Mailgun
  "[a-f0-9]{32}-us\\d{1,2}", // Mailchimp
];

const KEYS_WITH_DOT: readonly string[] = [
  "SG\\.[\\w-]{16,}\\.[\\w-]{16,}", // SendGrid
  "ya29\\.[\\w-]{16,}", // Google OAuth access
  "hv[sbr]\\.[\\w-]{20,}", // HashiCorp Vault
  "dp\\.(?:pt|st|ct|sa|scim|audit)\\.[\\w.-]{20,}", // Doppler
  "dt0c01\\.[A-Z0-9]{24}\\.[A-Z0-9]{32,}", // Dynatrace
];

const KEYS_WITHOUT_MARK: readonly string[] = [
  "(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{12,}", // AWS
  "AIza[\\w-]{30,}", // Google
  "(?:SK|sk)[a-f0-9]{32}", // Twilio
  "dapi[a-f0-9]{32}", // Databricks
  "ATATT3[\\w=-]{20,}", // Atlassian
  "ATBB[A-Za-z0-9]{24,}", // Bitbucket
];

/** At the edge of a word: a key is never the tail of a longer word. */
function keys(shapes: readonly string[]): RegExp {
  return new RegExp(`(?<![A-Za-z0-9])(?:${shapes.join("|")})`, "g");
}

const MARK = "[redacted]";
const UNDERSCORE = signalOf("*_");
const HYPHEN = signalOf("*-");
const DOT = signalOf("*.");
const ADDRESS = signalOf(":/");

// After these, `Bearer` is a word of a sentence and not a scheme.
const SENTENCE_WORDS =
  "tokens?|auth|authentication|authorization|schemes?|headers?|credentials?|required|missing|invalid|format|prefix|string|should";

/** Tried in this order; a rule never sees what an earlier one has replaced. */
export const SHAPE_RULES: readonly ShapeRule[] = [
  {
    // An unfinished block hides everything to the end: the first half of a key is still half a key.
    signals: HYPHEN | signalOf("--") | signalOf("-b") | signalOf("va"),
    pattern:
      /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:[^-]|-(?!----END ))*(?:-----END [A-Z0-9 ]{0,40}(?:-----)?)?/g,
    replacement: MARK,
  },
  {
    signals: DOT | signalOf("yj"),
    pattern: /(?<![A-Za-z0-9])eyJ[\w-]{6,}\.[\w-]{4,}(?:\.[\w-]*){0,3}/g,
    replacement: MARK,
  },
  {
    signals: ADDRESS | signalOf("*@"),
    pattern: /(:\/\/[^\s:@/?#"'<>]{0,256}):[^\s/?#"'<>]{1,512}@/g,
    replacement: `$1:${MARK}@`,
  },
  {
    signals: ADDRESS | signalOf("ks"),
    pattern:
      /((?:hooks\.slack\.com\/(?:services|workflows|triggers)|discord(?:app)?\.com\/api\/webhooks)\/)[\w/-]{8,}/g,
    replacement: `$1${MARK}`,
  },
  {
    signals:
      UNDERSCORE |
      signalOf(
        "gh",
        "gi",
        "sk",
        "rk",
        "pk",
        "wh",
        "np",
        "hf",
        "ap",
        "do",
        "sh",
        "ck",
        "li",
        "nt",
        "cr",
        "fi",
        "gl",
        "sb",
        "gs",
        "r8",
        "fw",
        "ls",
        "ps",
        "ru",
        "fo",
        "re",
        "ph",
        "nv",
      ),
    pattern: keys(KEYS_WITH_UNDERSCORE),
    replacement: MARK,
  },
  {
    signals:
      HYPHEN |
      signalOf("sk", "gl", "xo", "xa", "xw", "yp", "go", "sq", "pm", "nr", "pp", "nv", "tv", "hr", "ge", "ey", "-u"),
    pattern: keys(KEYS_WITH_HYPHEN),
    replacement: MARK,
  },
  { signals: DOT | signalOf("sg", "a2", "hv", "dp", "dt"), pattern: keys(KEYS_WITH_DOT), replacement: MARK },
  {
    signals: signalOf("ki", "si", "bi", "cc", "iz", "sk", "da", "tt", "tb"),
    pattern: keys(KEYS_WITHOUT_MARK),
    replacement: MARK,
  },
  {
    // A Telegram bot's token.
    signals: signalOf("0:", "1:", "2:", "3:", "4:", "5:", "6:", "7:", "8:", "9:") | signalOf(":a"),
    pattern: /(?<!\d)(\d{8,10}:)AA[\w-]{30,}/g,
    replacement: `$1${MARK}`,
  },
  {
    signals: signalOf("be") | signalOf("ea") | signalOf("r ", "r\t"),
    pattern: new RegExp(
      `(?<![\\w-])(bearer[ \\t]+)(?!(?:${SENTENCE_WORDS})(?![\\w.~+/=-]*[\\w~+/=-]))[\\w.~+/-]{6,}=*`,
      "gi",
    ),
    replacement: `$1${MARK}`,
  },
  {
    // `user:password` in base64: whole quadruples that no word of a sentence spells.
    signals: signalOf("ba") | signalOf("ic") | signalOf("c ", "c\t"),
    pattern:
      /(?<![\w-])([Bb]asic[ \t]+|BASIC[ \t]+)(?=[A-Za-z+/]{0,512}[0-9=]|[A-Za-z+/]?[a-z]{0,64}[A-Z])(?:[A-Za-z0-9+/]{6,}={1,2}|(?:[A-Za-z0-9+/]{4}){2,}(?![A-Za-z0-9+/=]))/g,
    replacement: `$1${MARK}`,
  },
  {
    // `curl -u name:password`; for other commands `-u` says something else.
    signals: HYPHEN | signalOf("-u") | signalOf("*:"),
    pattern:
      /(?<=\b(?:curl|wget|https?|xh)\b[^\n]{0,200}\s)((?:-u|--user)[ =]{0,4}["']?[^\s:"'=[\]]{1,128}:)(?!\/\/|\[r)[^\s"']{1,512}/g,
    replacement: `$1${MARK}`,
  },
];
