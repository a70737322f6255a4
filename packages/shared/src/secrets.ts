import { REDACTED } from './redact.js';

/** Replaces what is a secret within a text. */
export type Hide = (text: string) => string;

/** Shorter ones would blank ordinary words. */
const MIN_LENGTH = 6;

/** What looks like a secret wherever it stands. Each is linear in the text. */
const SHAPES = [
  /-----BEGIN [A-Z ]{0,20}PRIVATE KEY-----[^-]{0,8000}-----END [A-Z ]{0,20}PRIVATE KEY-----/g,
  /\beyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]{6,}/g,
  /\b(?:sk|pk|rk)[-_][\w-]{16,}/g,
  /\bmcp[sk]_[\w-]{30,}/g,
  /\bgh[pousr]_[A-Za-z0-9]{30,}/g,
  /\bgithub_pat_\w{30,}/g,
  /\bglpat-[\w-]{20,}/g,
  /\bxox[abeprs]-[\w-]{10,}/g,
  /\bxapp-[\w-]{10,}/g,
  /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/g,
  /\bAIza[\w-]{35}/g,
  /\bya29\.[\w-]{20,}/g,
  /\b(?:npm|hf)_[A-Za-z0-9]{30,}/g,
];
/** What follows the words of a secret; the words stay. */
const AFTER_WORDS = [
  /\b((?:Bearer|Basic)\s{1,3})[\w.~+/=-]{12,}/gi,
  /(:\/\/[^\s/:@]{0,64}:)[^\s/@]{1,256}(?=@)/g,
  /((?:passw(?:or)?d|passphrase|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|credentials?|authorization)[\w-]{0,30}\\?["']?\s{0,3}[=:]\s{0,3}\\?["']?)(?!\d+\b)(?!\[redacted])[^\s"'\\,;&}]{6,}/gi,
];
const HINT =
  /-----BEGIN|eyJ|[sprk]k[-_]|mcp[sk]_|gh[pousr]_|github_pat|glpat|xox|xapp|AKIA|ASIA|AIza|ya29|npm_|hf_|bearer|basic|:\/\/|pass|secret|token|key|credential|authorization/i;

/** A function that blanks the known secrets, also as they look in addresses, JSON and Base64, and all that looks like one. */
export function secretHider(known: Iterable<string> = []): Hide {
  const spelled = [...new Set([...known].filter((secret) => secret.length >= MIN_LENGTH).flatMap(spellings))];
  // The longest first: one may be part of another.
  spelled.sort((a, b) => b.length - a.length);
  return (text) => {
    if (text.length < MIN_LENGTH) return text;
    let hidden = text;
    for (const secret of spelled) if (hidden.includes(secret)) hidden = hidden.replaceAll(secret, REDACTED);
    if (!HINT.test(hidden)) return hidden;
    for (const shape of SHAPES) hidden = hidden.replace(shape, REDACTED);
    for (const shape of AFTER_WORDS) hidden = hidden.replace(shape, `$1${REDACTED}`);
    return hidden;
  };
}

function spellings(secret: string): string[] {
  const forms = [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)];
  const bytes = Buffer.from(secret);
  // Three places at which it may begin within a Base64 text; the characters at its borders mix with its neighbours.
  for (let shift = 0; shift < 3 && bytes.length >= 12; shift += 1) {
    const text = Buffer.concat([Buffer.alloc(shift), bytes])
      .toString('base64')
      .replace(/=+$/, '');
    const whole = text.slice(shift === 0 ? 0 : shift + 1, (bytes.length + shift) % 3 === 0 ? undefined : -1);
    forms.push(whole, whole.replaceAll('+', '-').replaceAll('/', '_'));
  }
  return forms;
}
