/** Removes secrets from logs, and from a connector's data before it leaves the user's machine (`spec: relay 6`). */
import { decodeUrlPart } from '../net/urls.ts'
import { inPieces } from '../text/pieces.ts'

/** Placeholder for a secret. */
export const redacted = '[redacted]'

const secretHeader = /^(?:authorization|proxy-authorization|cookie|set-cookie|x-api-key)$|-token$|csrf|xsrf/i
const secretField =
  /^(?:(?:access_|refresh_|id_)?token|api_?key|key|(?:client_)?secret|password|passwd|code|sig|signature|session)$/i

/** Replaces the values of secret headers. */
export function redactHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, secretHeader.test(name) ? redacted : redactText(value)]),
  )
}

/** Returns what replaces a secret; `isLogin` is true for the user name and password of a URL. */
type ReplaceSecret = (secret: string, isLogin: boolean) => string

const usePlaceholder: ReplaceSecret = () => redacted

/** Removes credentials from a URL, and the values of secret fields from its query and fragment. */
export const redactUrl = (url: string): string => replaceInUrl(url, usePlaceholder)

function replaceInUrl(url: string, replace: ReplaceSecret): string {
  return url
    .replace(
      /^([a-z][a-z0-9+.-]*:\/\/)([^/?#@\s]*)@/i,
      (_whole, scheme: string, login: string) => `${scheme}${replace(login, true)}@`,
    )
    .replace(/([?&#;])([^=&#;\s]+)=([^&#;\s]*)/g, (whole, mark: string, name: string, value: string) =>
      secretField.test(decodeUrlPart(name)) ? `${mark}${name}=${replace(value, false)}` : whole,
    )
}

/** Removes likely credentials from text: bearer tokens, JSON web tokens, keys of known services, secret URL fields. */
export const redactText = (text: string): string => replaceSecrets(text, usePlaceholder)

/** Replaces likely credentials in text; a secret field of a URL may contain what was replaced before. */
export const replaceSecrets = (text: string, replace: ReplaceSecret): string =>
  inPieces(text, betweenSecrets, (piece) => replaceInPiece(piece, replace))

/** Matches characters that no credential contains, except for the space within `Bearer TOKEN`. */
const betweenSecrets = /(?<!\b(?:bearer|basic)\s*)[\s"'<>]/gi

function replaceInPiece(text: string, replace: ReplaceSecret): string {
  const replaceWhole = (secret: string) => replace(secret, false)
  return text
    .replaceAll(
      /\b(bearer|basic)\s+([\w\-.~+/]{8,}=*)/gi,
      (_whole, scheme: string, secret: string) => `${scheme} ${replaceWhole(secret)}`,
    )
    .replaceAll(/\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/g, replaceWhole)
    .replaceAll(/\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g, replaceWhole)
    .replaceAll(/\b(?:gh[pousr]_\w{20,}|github_pat_\w{20,}|sk-[\w-]{20,}|xox[abprs]-[\w-]{10,})/g, replaceWhole)
    .replaceAll(/\b(?:ft|rlt|bax)_[\w-]{30,}/g, replaceWhole)
    .replaceAll(/\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s"'<>]+/gi, (url) => replaceInUrl(url, replace))
}

/** Redacts every text in a value of any shape; text fields with a secret name lose their whole value. */
export const redactValue = (value: unknown): unknown =>
  redactDeep(
    value,
    redactText,
    (name, inner) => typeof inner === 'string' && (secretHeader.test(name) || secretField.test(name)),
  )

/**
 * Redacts the facts of a log line: secret headers, and text that looks like a credential.
 * Fields named `code` or `session` hold no secrets here and are kept.
 */
export const redactFacts = (value: unknown): unknown => redactDeep(value, redactLine, (name) => secretHeader.test(name))

function redactDeep(
  value: unknown,
  redact: (text: string) => string,
  isSecret: (name: string, inner: unknown) => boolean,
): unknown {
  if (typeof value === 'string') return redact(value)
  if (Array.isArray(value)) return value.map((inner) => redactDeep(inner, redact, isSecret))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name,
      isSecret(name, inner) ? redacted : redactDeep(inner, redact, isSecret),
    ]),
  )
}

/** Redacts a log line, which may contain headers as text and URLs without their host. */
export function redactLine(text: string): string {
  // Most facts of a request have none of it, and each pattern takes time.
  if (!partOfSecret.test(text)) return text
  return redactText(
    inPieces(redactHeaderLines(text), betweenSecrets, (piece) =>
      piece.replaceAll(/([?&](?:token|key|api_key)=)[^&\s"']+/gi, `$1${redacted}`),
    ),
  )
}

/** Matches text that every match of the patterns below and in `redactText` contains. */
const partOfSecret = /[:=]|bearer|basic|eyJ|A[KS]IA|gh[pousr]_|github_pat_|sk-|xox|(?:ft|rlt|bax)_/i

/** Matches `cookie:` and the beginning of its value. */
const headerInText = /\b(?:proxy-authorization|authorization|set-cookie|cookie|x-api-key)["']?\s*[:=]\s*[^\r\n]/gi

/** Redacts the values of headers, which end with the line. */
function redactHeaderLines(text: string): string {
  const kept: string[] = []
  let at = 0
  for (const {
    0: { length },
    index,
  } of text.matchAll(headerInText)) {
    if (index < at) continue
    const value = index + length - 1
    kept.push(text.slice(at, value), redacted)
    at = value + (text.slice(value).match(/[\r\n]/)?.index ?? text.length - value)
  }
  return kept.join('') + text.slice(at)
}

/** Redacts a response body: JSON by its fields; anything else, including forms, as text. */
export function redactBody(body: string): string {
  try {
    return JSON.stringify(redactValue(JSON.parse(body)))
  } catch {
    // Not JSON.
    return redactText(body.split('&').map(redactFormField).join('&'))
  }
}

function redactFormField(field: string): string {
  const nameEnd = field.indexOf('=')
  if (!secretField.test(field.slice(0, Math.max(nameEnd, 0)))) return field
  const rest = field.search(/\s/)
  return field.slice(0, nameEnd + 1) + redacted + (rest === -1 ? '' : field.slice(rest))
}
