/** Replaces the secret values in the data of a command by references to environment variables. */
import type { CommandCall, CommandResult } from '../../../core/shapes/commands.ts'
import { literal, literalText } from '../../../core/text/write-step.ts'
import type { JournalEntry, TargetFacts } from '../ports/journal.ts'
import type { SecretValues } from './secret-values.ts'

type Data = Readonly<Record<string, unknown>>

interface Known {
  readonly targets: ReadonlyMap<string, TargetFacts>
  /** Selectors that the command has used, in order: those of a form are in the order of its fields. */
  readonly used: readonly string[]
  /** Whether the field with the focus takes a secret. */
  readonly isFocusSecret: boolean
  readonly result: CommandResult
  readonly secrets: SecretValues
}

/** Returns the reference to a secret; the second argument is the name of the variable. */
type Hide = (secret: string, kind: string) => string

/** Fields of commands that are secret in any case, with the name of their variable. */
const always: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  set_cookie: { value: 'COOKIE' },
  set_cookies: { cookies: 'COOKIES' },
  emulate: { password: 'HTTP_PASSWORD' },
}

/** Fields that hold what is typed. */
const texts: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  fill: { text: 'PASSWORD' },
  type_text: { text: 'PASSWORD' },
  insert_text: { text: 'PASSWORD' },
  press_key: { key: 'KEY' },
}

/** Returns the data without its secrets, and which of its fields are templates therefore. */
export function withoutSecrets(call: CommandCall, known: Known): Pick<JournalEntry, 'data' | 'templates'> {
  const templates: string[] = []
  const fields = Object.entries(call.data ?? {}).map(([name, value]) => {
    let isHidden = false
    const hide: Hide = (secret, kind) => {
      isHidden = true
      return known.secrets.referenceTo(secret, kind)
    }
    const masked = fieldWithoutSecrets(call, name, known, hide)
    // What only looks like a reference is none.
    if (isHidden) templates.push(name)
    return [name, isHidden ? masked : value]
  })
  return { data: Object.fromEntries(fields) as Data, templates }
}

/** Returns the value of a field as a template. */
function fieldWithoutSecrets({ command, data }: CommandCall, name: string, known: Known, hide: Hide): unknown {
  const value = data![name]
  const { targets, isFocusSecret, result } = known
  const selector = data!['selector']
  const target = typeof selector === 'string' ? targets.get(selector) : undefined
  // The element of a field that was not described may be one for a password.
  const isUnknown = result.success && target === undefined
  const isSecret = typeof selector === 'string' ? (target?.secret ?? isUnknown) : isFocusSecret
  if (command === 'fill_form' && name === 'fields') return formWithoutSecrets(value as Data, known, hide)
  if (command === 'emulate' && name === 'headers') return headersWithoutSecrets(value as Data, hide)
  if (name === 'url' && typeof value === 'string') return withoutPassword(value, hide)
  const kind = always[command]?.[name] ?? (isSecret ? texts[command]?.[name] : undefined)
  // Names of keys, such as Enter, tell nothing.
  const isOpen = typeof value !== 'string' || value === '' || (kind === 'KEY' && value.length > 1)
  return kind === undefined || isOpen ? literal(value) : hide(value, kind)
}

/** Hides the values of all fields when the elements are not known, as after a failure. */
function formWithoutSecrets(fields: Data, { targets, used }: Known, hide: Hide): unknown {
  const isKnown = used.length === Object.keys(fields).length
  const values = Object.entries(fields).map(([name, value], at) => {
    const isSecret = isKnown ? (targets.get(used[at]!)?.secret ?? true) : true
    return [name, isSecret && typeof value === 'string' ? hide(value, 'PASSWORD') : literal(value)]
  })
  return Object.fromEntries(values)
}

const headersWithoutSecrets = (headers: Data, hide: Hide): unknown =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      /auth|cookie|token|key|secret/i.test(name) ? hide(String(value), 'HEADER') : literal(value),
    ]),
  )

/** Replaces the password in a URL such as `https://ann:secret@example.com`. */
function withoutPassword(url: string, hide: Hide): string {
  const [start, password] = /^[a-z]+:\/\/[^/?#@:]*:([^/?#@]+)(?=@)/i.exec(url) ?? []
  if (start === undefined || password === undefined) return literalText(url)
  const before = start.slice(0, start.length - password.length)
  return `${literalText(before)}${hide(password, 'PASSWORD')}${literalText(url.slice(start.length))}`
}
