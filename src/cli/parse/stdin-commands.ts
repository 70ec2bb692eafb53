/** A batch that is given on standard input. */
import { BaxError } from '../../core/errors/errors.ts'
import { type Io, readStdin } from '../io.ts'

/** The body of a request: what was given, or `{commands}` around a list. @throws BaxError `invalid_json`, `invalid_request`. */
export async function readCommands(io: Io): Promise<Record<string, unknown>> {
  const text = await readStdin(io)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new BaxError('invalid_json', `standard input is not JSON: ${(error as Error).message}`, {
      hint: 'give an array such as [{"command":"get_title"}]',
      cause: error,
    })
  }
  if (Array.isArray(value)) return { commands: value }
  if (typeof value === 'object' && value !== null) return value as Record<string, unknown>
  throw new BaxError('invalid_request', 'standard input must hold a JSON array of commands', {
    hint: 'give an array such as [{"command":"get_title"}]',
  })
}
