/** Reads JSON that an argument names. */
import { BaxError, messageOf } from '../../core/errors/errors.ts'
import { fileText } from '../../lines/values.ts'
import { type Io, readStdin } from '../io.ts'

/** Reads JSON from the text itself, from `@file`, or from standard input (`-`). @throws BaxError `invalid_json` */
export async function readJson(io: Io, given: string, label: string): Promise<{ text: string; value: unknown }> {
  const text = given === '-' ? await readStdin(io) : given.startsWith('@') ? fileText(given, label, io.cwd) : given
  try {
    return { text, value: JSON.parse(text) }
  } catch (cause) {
    throw new BaxError('invalid_json', `${label} is not JSON: ${messageOf(cause)}`, { cause })
  }
}
