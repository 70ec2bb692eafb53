/** Takes secrets out of what is logged, and of what a connector collects before it leaves the user's machine (`spec: relay 6`). */

/** What stands in the place of a secret. */
const redacted = '[redacted]'

const secretHeader = /^(?:authorization|proxy-authorization|cookie|set-cookie|x-api-key)$|-token$|csrf|xsrf/i
const secretField =
  /^(?:(?:access_|refresh_|id_)?token|api_?key|key|(?:client_)?secret|password|passwd|code|sig|signature|session)$/i

/** Headers with the values of the secret ones replaced. */
export function redactHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, secretHeader.test(name) ? redacted : redactText(value)]),
  )
}

/** An address without credentials, and without the values of secret fields in its query and fragment. */
export function redactUrl(url: string): string {
  return url
    .replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/?#@\s]*@/i, `$1${redacted}@`)
    .replace(/([?&#;])([^=&#;\s]+)=([^&#;\s]*)/g, (whole, mark: string, name: string) =>
      secretField.test(decoded(name)) ? `${mark}${name}=${redacted}` : whole,
    )
}

/** Text without what looks like a credential: bearer tokens, JSON web tokens, keys of well-known services, secret URL fields. */
export function redactText(text: string): string {
  return text
    .replaceAll(/\b(bearer|basic)\s+[\w\-.~+/]{8,}=*/gi, `$1 ${redacted}`)
    .replaceAll(/\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/g, redacted)
    .replaceAll(/\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g, redacted)
    .replaceAll(/\b(?:gh[pousr]_\w{20,}|github_pat_\w{20,}|sk-[\w-]{20,}|xox[abprs]-[\w-]{10,})/g, redacted)
    .replaceAll(/\b(?:ft|rlt|bax)_[\w-]{30,}/g, redacted)
    .replaceAll(/\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s"'<>]+/gi, redactUrl)
}

/** A value of any shape with every text in it redacted; fields that are named like a secret lose their value whole. */
export function redactValue(value: unknown): unknown {
  if (typeof value === 'string') return redactText(value)
  if (Array.isArray(value)) return value.map(redactValue)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => {
      const secret = typeof inner === 'string' && (secretHeader.test(name) || secretField.test(name))
      return [name, secret ? redacted : redactValue(inner)]
    }),
  )
}

/**
 * Facts of a log line: headers that hold secrets lose their value, texts what looks like a credential.
 * Plain names such as `code` and `session` are ours here and stay.
 */
export function redactFacts(value: unknown): unknown {
  if (typeof value === 'string') return redactLine(value)
  if (Array.isArray(value)) return value.map(redactFacts)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, secretHeader.test(name) ? redacted : redactFacts(inner)]),
  )
}

/** A line of a log, in which headers may stand as text and addresses without their host. */
export const redactLine = (text: string): string =>
  redactText(
    text
      .replaceAll(headerInText, `$1${redacted}`)
      .replaceAll(/([?&](?:token|key|api_key)=)[^&\s"']+/gi, `$1${redacted}`),
  )

/** `cookie: a=1; b=2` to the end of its line. */
const headerInText = /(\b(?:proxy-authorization|authorization|set-cookie|cookie|x-api-key)["']?\s*[:=]\s*)[^\r\n]+/gi

/** The text of an answer: JSON by its fields, anything else, forms too, as text. */
export function redactBody(body: string): string {
  try {
    return JSON.stringify(redactValue(JSON.parse(body)))
  } catch {
    // No JSON.
    return redactText(
      body.replace(/(^|&)([\w.[\]-]+)=([^&\s]*)/g, (whole, mark: string, name: string) =>
        secretField.test(name) ? `${mark}${name}=${redacted}` : whole,
      ),
    )
  }
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}
