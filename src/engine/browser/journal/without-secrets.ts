/** Replaces the secret values in the data of a command by references to environment variables. */
import type { CommandCall, CommandResult } from '../../../core/shapes/commands.ts'
import type { TargetFacts } from '../ports/journal.ts'
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

/** Fields of commands that are secret in any case, with the name of their variable. */
const always: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  set_cookie: { value: 'COOKIE' },
  set_cookies: { cookies: 'COOKIES' },
  emulate: { password: 'HTTP_PASSWORD' },
}

/** Returns the data without its secrets. */
export function withoutSecrets({ command, data: given }: CommandCall, known: Known): Data {
  const data = given ?? {}
  const { targets, isFocusSecret, secrets } = known
  const { selector } = data
  const target = typeof selector === 'string' ? targets.get(selector) : undefined
  // The element of a field that was not described may be one for a password.
  const isUnknown = known.result.success && target === undefined
  const isSecret = typeof selector === 'string' ? (target?.secret ?? isUnknown) : isFocusSecret
  const named = { ...always[command], ...(isSecret && texts[command]) }
  if (command === 'fill_form') return { ...data, fields: formWithoutSecrets(data['fields'] as Data, known) }
  if (command === 'emulate' && data['headers'] !== undefined)
    return { ...replaced(data, named, secrets), headers: replacedHeaders(data['headers'] as Data, secrets) }
  if (command === 'navigate_to' || command === 'new_tab') return withoutPassword(data, secrets)
  return replaced(data, named, secrets)
}

/** Fields that hold what is typed. */
const texts: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  fill: { text: 'PASSWORD' },
  type_text: { text: 'PASSWORD' },
  insert_text: { text: 'PASSWORD' },
  press_key: { key: 'KEY' },
}

function replaced(data: Data, named: Readonly<Record<string, string>>, secrets: SecretValues): Data {
  const values = Object.entries(data).map(([name, value]) => {
    const kind = named[name]
    // Names of keys, such as Enter, tell nothing.
    const isOpen = typeof value !== 'string' || value === '' || (kind === 'KEY' && value.length > 1)
    return [name, kind === undefined || isOpen ? value : secrets.referenceTo(value, kind)]
  })
  return Object.fromEntries(values) as Data
}

/** Hides the values of all fields when the elements are not known, as after a failure. */
function formWithoutSecrets(fields: Data, { secrets, targets, used }: Known): Data {
  const names = Object.keys(fields)
  const isKnown = used.length === names.length
  const values = Object.entries(fields).map(([name, value], at) => {
    const isSecret = isKnown ? (targets.get(used[at]!)?.secret ?? true) : true
    return [name, isSecret && typeof value === 'string' ? secrets.referenceTo(value, 'PASSWORD') : value]
  })
  return Object.fromEntries(values) as Data
}

const replacedHeaders = (headers: Data, secrets: SecretValues): Data =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      /auth|cookie|token|key|secret/i.test(name) ? secrets.referenceTo(String(value), 'HEADER') : value,
    ]),
  )

/** Replaces the password in a URL such as `https://ann:secret@example.com`. */
function withoutPassword(data: Data, secrets: SecretValues): Data {
  const { url } = data
  const password = typeof url === 'string' ? /^[a-z]+:\/\/[^/?#@:]*:([^/?#@]+)@/i.exec(url)?.[1] : undefined
  if (password === undefined) return data
  return { ...data, url: (url as string).replace(`:${password}@`, `:${secrets.referenceTo(password, 'PASSWORD')}@`) }
}

/** Returns whether data contains a reference that `withoutSecrets` has inserted. */
export const hasSecret = (data: Data): boolean => variablesIn(data).length > 0

const variable = /\$\{env\.((?:PASSWORD|COOKIES?|HEADER|HTTP_PASSWORD|KEY)(?:_\d+)?)\}/g

/** Returns the names of the variables in data. */
export const variablesIn = (data: Data): string[] =>
  [...JSON.stringify(data).matchAll(variable)].map(([, name]) => name!)
