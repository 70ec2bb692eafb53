/** Parses simple arguments without commander, whose loading would take a tenth of a one-liner's time. */
import type { Param } from '../../core/operation/params.ts'
import { attributeOf, kebab } from './values.ts'

/** Returns the parameter of a flag with text. */
export const textFlag = (name: string): Param => ({ name, type: 'string', required: false })
/** Returns the parameter of a switch. */
export const switchFlag = (name: string): Param => ({ name, type: 'boolean', required: false, default: false })

/** Flags that every command takes. */
export const globalParams: readonly Param[] = [
  ...['server', 'state_dir', 'browser'].map(textFlag),
  ...['json', 'embedded'].map(switchFlag),
]

const short: Readonly<Record<string, string>> = { '-s': '--session', '-o': '--output' }

/** Parses words and flags like commander; returns undefined if commander has to parse them. */
export function plainWords(
  argv: readonly string[],
  known: readonly Param[],
): { words: string[]; flags: Record<string, unknown> } | undefined {
  const flags: Record<string, unknown> = {}
  const words: string[] = []
  for (let index = 0; index < argv.length; index += 1) {
    const typed = argv[index]!
    if (!typed.startsWith('-')) {
      words.push(typed)
      continue
    }
    const flag = short[typed] ?? typed
    // The command's own flags come last and replace global ones of the same name.
    const param = known.findLast(({ name }) => flag === `--${kebab(name)}` || flag === `--no-${kebab(name)}`)
    if (!param) return undefined
    if (param.type === 'boolean') {
      const on = !flag.startsWith('--no-')
      if (param.default === on) return undefined
      flags[attributeOf(param)] = on
      continue
    }
    index += 1
    const value = argv[index]
    if (value === undefined || value.startsWith('-') || flag.startsWith('--no-')) return undefined
    const before = flags[attributeOf(param)] as string[] | undefined
    flags[attributeOf(param)] = param.type === 'string[]' ? [...(before ?? []), value] : value
  }
  return { words, flags }
}
