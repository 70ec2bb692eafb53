/** Reads secrets for credentials: from a terminal without echo, else from standard input. They are never arguments. */
import { BaxError } from '../../core/errors/errors.ts'
import { requiredWord, textFlag } from '../../lines/typed.ts'
import type { TypedArguments } from '../../lines/values.ts'
import { type Io, readStdin } from '../io.ts'

type SecretPart = 'password' | 'totp'

const prompts: Record<SecretPart, string> = { password: 'Password: ', totp: 'TOTP secret (base32 or otpauth URI): ' }

/** Reads the name, the user name and the secrets of a command line. @throws BaxError `invalid_request` */
export async function readCredential(io: Io, { flags, words }: TypedArguments) {
  const parts = partsOf(flags)
  return {
    name: requiredWord(words, 0),
    username: textFlag(flags, 'username'),
    ...(flags['passkey'] === true && { passkey: true }),
    ...(parts.length > 0 && (await readSecrets(io, parts))),
  }
}

/** Returns the secrets to read for the flags `--no-password` and `--totp`. */
const partsOf = (flags: Readonly<Record<string, unknown>>): SecretPart[] => [
  ...(flags['password'] === false ? [] : ['password' as const]),
  ...(flags['totp'] === true ? ['totp' as const] : []),
]

/** Reads one line for each part, in order. @throws BaxError `invalid_request` for a missing or further line */
export async function readSecrets(io: Io, parts: readonly SecretPart[]): Promise<Partial<Record<SecretPart, string>>> {
  const lines = io.stdin.isTTY ? await promptFor(io, parts) : await linesOfStdin(io)
  if (lines.length === parts.length && lines.every(Boolean))
    return Object.fromEntries(parts.map((part, at) => [part, lines[at]!]))
  throw new BaxError('invalid_request', `standard input has ${lines.length} lines, not ${parts.join(' and ')}`, {
    hint: `write one line for each: ${parts.join(', then ')}`,
  })
}

async function linesOfStdin(io: Io): Promise<string[]> {
  const lines = (await readStdin(io)).split(/\r?\n/)
  if (lines.at(-1) === '') lines.pop()
  return lines
}

/** Asks for each part; what is typed is not shown. */
async function promptFor({ stdin, stderr, signal }: Io, parts: readonly SecretPart[]): Promise<string[]> {
  stdin.setRawMode?.(true)
  const typed = [...parts].map(() => '')
  let at = 0
  stderr.write(prompts[parts[0]!])
  try {
    for await (const chunk of stdin) {
      signal.throwIfAborted()
      for (const key of Buffer.from(chunk).toString()) {
        if (key === '\u0003' || key === '\u0004') throw new BaxError('cancelled', 'nothing was stored')
        if (key === '\u007F' || key === '\b') typed[at] = [...typed[at]!].slice(0, -1).join('')
        else if (key !== '\r' && key !== '\n') typed[at] += key
        else {
          stderr.write('\n')
          at += 1
          if (at === parts.length) return typed
          stderr.write(prompts[parts[at]!])
        }
      }
    }
    return typed.slice(0, at)
  } finally {
    stdin.setRawMode?.(false)
  }
}
