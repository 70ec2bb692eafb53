/** Replaces the secret values in the data of a command by references to environment variables. */
import { keyName } from '../../../commands/input/key-names.ts'
import type { CommandCall } from '../../../core/shapes/commands.ts'
import { literal } from '../../../core/text/script/write-step.ts'
import type { JournalEntry, TargetFacts } from '../ports/journal.ts'
import { type Hide, hideInValue, hideValue } from './hidden-text.ts'
import type { SecretValues } from './secret-values.ts'

type Data = Readonly<Record<string, unknown>>

interface Known {
  readonly targets: ReadonlyMap<string, TargetFacts>
  /** Selectors that the command has used, in order: those of a form are in the order of its fields. */
  readonly used: readonly string[]
  /** Whether the field with the focus takes a secret. */
  readonly isFocusSecret: boolean
  readonly secrets: SecretValues
}

/** Fields of commands that are secret in any case, with the name of their variable. */
const always: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  set_cookie: { value: 'COOKIE' },
  set_cookies: { cookies: 'COOKIES' },
  emulate: { password: 'HTTP_PASSWORD' },
  // The text of the clipboard is often a password.
  write_clipboard: { text: 'CLIPBOARD' },
}

/** Fields that hold what is typed. */
const texts: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  fill: { text: 'PASSWORD' },
  type_text: { text: 'PASSWORD' },
  insert_text: { text: 'PASSWORD' },
  press_key: { key: 'KEY' },
  key_down: { key: 'KEY' },
  key_up: { key: 'KEY' },
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
    // Other texts with `${` are escaped later.
    if (isHidden) templates.push(name)
    return [name, isHidden ? masked : value]
  })
  return { data: Object.fromEntries(fields) as Data, templates }
}

/** Returns the value of a field as a template. */
function fieldWithoutSecrets({ command, data }: CommandCall, name: string, known: Known, hide: Hide): unknown {
  const value = data![name]
  const { selector } = data!
  // The element of a field that was not described may be one for a password.
  const isSecret = typeof selector === 'string' ? (known.targets.get(selector)?.secret ?? true) : known.isFocusSecret
  if (command === 'fill_form' && name === 'fields') return formWithoutSecrets(value as Data, known, hide)
  const kind = always[command]?.[name] ?? (isSecret ? texts[command]?.[name] : undefined)
  if (kind !== undefined && !(kind === 'KEY' && typesNothing(String(value)))) return hideValue(value, kind, hide)
  // Elements are found by their selectors, also in the journal.
  return /^(?:target_)?selector$|^key$/.test(name) ? literal(value) : hideInValue(value, hide)
}

const withoutText =
  /^(?:NumpadEnter|Enter|Tab|Escape|Backspace|Delete|Insert|Home|End|Page(?:Up|Down)|Arrow(?:Up|Down|Left|Right)|F\d{1,2}|CapsLock|ControlOrMeta|(?:Shift|Control|Alt|Meta)(?:Left|Right)?)$/

/** Returns whether a key, or a combination of keys, types no character. */
function typesNothing(key: string): boolean {
  const parts = keyName(key).split(/\+(?!$)/)
  return withoutText.test(parts.at(-1)!) || parts.slice(0, -1).some((part) => /^(?:Control|Meta)/.test(part))
}

/** Hides the values of all fields when the elements are not known, as after a failure. */
function formWithoutSecrets(fields: Data, { targets, used }: Known, hide: Hide): unknown {
  const isKnown = used.length === Object.keys(fields).length
  const values = Object.entries(fields).map(([name, value], at) => {
    const isSecret = isKnown ? (targets.get(used[at]!)?.secret ?? true) : true
    return [name, isSecret ? hideValue(value, 'PASSWORD', hide) : hideInValue(value, hide)]
  })
  return Object.fromEntries(values)
}
