/** The error of an unknown flag. */
import type { Command } from 'commander'
import { suggest } from '../core/errors/suggest.ts'

interface Fault {
  readonly message: string
  readonly hint?: string
}

/** Explains a flag that a command does not have; `usages` are those of the command. */
export function unknownFlag(command: Command, typed: string, usages: readonly string[]): Fault {
  const { options, args, registeredArguments } = command
  const [flag = '', value = args[args.indexOf(typed) + 1]] = typed.split('=')
  const message = `unknown flag ${typed}`
  const opposite = flag.replace(/^--/, '--no-')
  if (options.some(({ long, hidden }) => long === opposite && !hidden)) {
    const isOff = /^(?:off|false|no|0)$/i.test(value ?? '')
    const hint = isOff ? `use ${opposite}` : `leave it out, since it is the default; ${opposite} is its opposite`
    return { message, hint }
  }
  const negated = /^--no-(.+)/.exec(flag)?.[1]
  if (
    options.some(({ long, hidden, optional, required }) => long === `--${negated}` && !hidden && !optional && !required)
  )
    return { message, hint: `leave it out, since it is the default; --${negated} is its opposite` }
  if (flag === '--fleet') return { message, hint: 'pass --server URL with the URL of a gateway ("bax serve --fleet")' }
  if (registeredArguments.some((argument) => `--${argument.name()}` === flag))
    return { message, hint: `give it as a word: ${usages.join(' or ')}` }
  const near =
    suggest(
      typed,
      options.map(({ long }) => long!),
    ) ?? beginning(command, flag)
  return { message: near === undefined ? message : `${message} (did you mean ${shownFlag(command, near)}?)` }
}

/** Returns the flag that the help shows which begins with a typed one: `--full` is short for `--full-page`. */
const beginning = ({ options }: Command, flag: string): string | undefined =>
  flag.length > '--a'.length ? options.find(({ hidden, long }) => !hidden && long!.startsWith(flag))?.long : undefined

/** Returns the flag that the help shows for a flag or another spelling of it. */
function shownFlag({ options }: Command, flag: string): string {
  const found = options.find(({ long }) => long === flag)!
  const shown = options.find((one) => !one.hidden && one.attributeName() === found.attributeName())
  return found.hidden && shown ? shown.long! : flag
}
