/** Flags for headers, cookies and proxies, which are written as for curl. */
import { type Command, Option } from 'commander'
import { BaxError } from '../../core/errors/errors.ts'
import { collect } from '../../lines/flags.ts'
import { textFlag, textFlags } from '../../lines/typed.ts'
import { fileText, type TypedArguments } from '../../lines/values.ts'

/** Attributes of the flags that have the name of a field, but no value of it. */
export const ownAttributes: Readonly<Record<string, string>> = { cookies: 'cookieFile', proxy: 'proxies' }

/** Adds the flags to a command. */
export function addIdentityFlags(command: Command): void {
  const file = new Option(
    '--cookies <file>',
    'file of cookies: Netscape, JSON, a Cookie header, or a copied curl command',
  )
  file.attributeName = () => ownAttributes['cookies']!
  command
    .option('-H, --header <name: value>', 'request header for the host of the URL; may be repeated', collect)
    .option('--cookie <name=value>', 'cookie for the host of the URL; may be repeated', collect)
    .addOption(file)
}

/** Adds the flag for the proxies of a read. */
export function addProxyFlag(command: Command): void {
  const about = 'proxy to read through; may be repeated: pages take turns, and failing ones are left out'
  const option = new Option('--proxy <url>', about).argParser(collect)
  option.attributeName = () => ownAttributes['proxy']!
  command.addOption(option)
}

export const aboutSession = 'session whose cookies are used; it keeps those it receives'

/** Adds the flag for the session of a read. */
export const addSessionFlag = (command: Command): void => void command.option('-s, --session <id|name>', aboutSession)

/** Returns the first of these flags that was typed. */
export function typedIdentityFlag(flags: TypedArguments['flags']): string | undefined {
  const names = Object.entries({ header: 'header', cookie: 'cookie', session: 'session', ...ownAttributes })
  const typed = names.find(([, attribute]) => flags[attribute] !== undefined)
  return typed && `--${typed[0]}`
}

/** Adds the headers, cookies and proxies of the flags to a request. @throws BaxError `invalid_request` */
export function withIdentity<Input extends object>(input: Input, flags: TypedArguments['flags'], cwd: string): Input {
  const headers = textFlags(flags, 'header').map(readHeader)
  const pairs = textFlags(flags, 'cookie')
  const file = textFlag(flags, ownAttributes['cookies']!)
  const proxies = textFlags(flags, ownAttributes['proxy']!)
  if (pairs.length > 0 && file !== undefined)
    throw new BaxError('invalid_request', '--cookie and --cookies exclude each other', { hint: 'give one of them' })
  const cookies = file === undefined ? pairs.join('; ') : fileText(`@${file}`, '--cookies', cwd)
  return {
    ...input,
    ...(headers.length > 0 && { headers: Object.fromEntries(headers) }),
    ...(cookies !== '' && { cookies }),
    ...(proxies.length > 0 && { proxy: proxies.length === 1 ? proxies[0] : proxies }),
  }
}

function readHeader(text: string): [name: string, value: string] {
  const at = text.indexOf(':')
  if (at > 0) return [text.slice(0, at).trim(), text.slice(at + 1).trim()]
  // The text is not repeated: it may be a secret.
  throw new BaxError('invalid_request', '--header must be written as "Name: value"')
}
