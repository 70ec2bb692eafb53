/** Replaces likely credentials in texts of commands by references to environment variables. */
import { redactBody, redacted, replaceSecrets } from '../../../core/access/redact.ts'
import { literalText } from '../../../core/text/script/write-step.ts'

/** Returns the reference to a secret; the second argument is the name of the variable. */
export type Hide = (secret: string, kind: string) => string

/** Names of headers, of entries of a storage, and of fields of other objects, whose values are secrets. */
const secretName = /auth|cookie|credential|jwt|key|passw|secret|session|token|^(?:code|sig|signature)$/i

/** Marks the number of a secret in a text; from Unicode's private characters. */
const mark = '\uF8FE'
const marked = new RegExp(`${mark}(\\d+)${mark}`, 'g')

/** Returns the template of a text, without its credentials. */
function hideInText(text: string, hide: Hide): string {
  const found: { readonly secret: string; readonly kind: string }[] = []
  const restored = (part: string) => part.replace(marked, (own, at: string) => found[Number(at)]?.secret ?? own)
  const add = (secret: string, kind: string): string =>
    // Nothing, or any text of a glob.
    /^\**$/.test(secret) ? secret : `${mark}${found.push({ secret: restored(secret), kind }) - 1}${mark}`
  const replaced = replaceSecrets(text, (secret, isLogin) => {
    const [, user, password] = /^([^:]*:)(.+)$/s.exec(secret) ?? []
    return isLogin && password !== undefined ? `${user}${add(password, 'PASSWORD')}` : add(secret, 'TOKEN')
  })
  const parts = replaced.split(marked).map((part, at) => {
    const known = at % 2 === 1 ? found[Number(part)] : undefined
    if (known) return hide(known.secret, known.kind)
    return literalText(at % 2 === 1 ? `${mark}${part}${mark}` : part)
  })
  return parts.join('')
}

/** Returns the template of a value of any shape, without credentials. */
export function hideInValue(value: unknown, hide: Hide): unknown {
  if (typeof value === 'string') return hideInText(value, hide)
  if (Array.isArray(value)) return value.map((each) => hideInValue(each, hide))
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value)
  const { key, value: own } = value as { readonly key?: unknown; readonly value?: unknown }
  // An entry of a storage, whose text is often JSON.
  if (entries.length === 2 && typeof key === 'string' && typeof own === 'string') {
    const isSecret = own !== '' && (secretName.test(key) || redactBody(own).includes(redacted))
    return { key: literalText(key), value: isSecret ? hide(own, 'TOKEN') : literalText(own) }
  }
  return Object.fromEntries(
    entries.map(([name, each]) => [
      name,
      secretName.test(name) && typeof each === 'string' && each !== '' ? hide(each, 'HEADER') : hideInValue(each, hide),
    ]),
  )
}

/** Returns a value of which everything is secret. */
export function hideValue(value: unknown, kind: string, hide: Hide): unknown {
  if (Array.isArray(value)) return value.map((each) => hideValue(each, kind, hide))
  if (typeof value === 'string' || typeof value === 'number') return value === '' ? value : hide(String(value), kind)
  return value
}
