/** Batches on standard input. */
import { BaxError } from '../../core/errors/errors.ts'
import { type Io, readStdin } from '../io.ts'

const hint = 'pass an array such as [{"command":"get_title"}]'

/** Reads the body of a request; a list becomes `{commands}`. @throws BaxError `invalid_json`, `invalid_request` */
export async function readCommands(io: Io): Promise<Record<string, unknown>> {
  const text = await readStdin(io)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    const message = `standard input is not JSON: ${(error as Error).message}`
    throw new BaxError('invalid_json', message, { hint, cause: error })
  }
  if (Array.isArray(value)) return { commands: value }
  if (typeof value === 'object' && value !== null) return value as Record<string, unknown>
  throw new BaxError('invalid_request', 'standard input must be a JSON array of commands', { hint })
}
