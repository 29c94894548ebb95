const ALTERNATIVE_NAME = /^(?:DNS|URI|email):\S(?:.*\S)?$/u;

/** Whether a text is a subject alternative name of a kind that grants may name: `DNS:…`, `URI:…` or `email:…`. */
export function isAlternativeName(text: string): boolean {
  return ALTERNATIVE_NAME.test(text);
}
