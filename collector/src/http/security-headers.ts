/**
 * Sent with everything. The board needs nothing but its own files; nobody frames it, nobody sniffs types, and where it
 * was seen is nobody's business.
 */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = Object.freeze({
  "content-security-policy": [
    "default-src 'none'",
    "connect-src 'self'",
    "img-src 'self'",
    "script-src 'self'",
    "style-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
  ].join("; "),
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy":
    "camera=(), clipboard-read=(), display-capture=(), geolocation=(), hid=(), microphone=(), payment=(), serial=(), usb=()",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
});
