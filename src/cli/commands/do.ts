/** `bax do`: commands of the catalogue, one batch, one request. */
import { BaxError } from '../../core/errors.ts'
import { noEngineFor } from '../chosen-session.ts'
import { homeName, openHome } from '../home.ts'
import type { TerminalCommand } from '../invocation.ts'
import { type Io, readStdin } from '../io.ts'
import { parseBatch } from '../parse-batch.ts'
import { sendBatch } from '../send-batch.ts'
import { readSettings } from '../settings.ts'
import { globalFlags } from '../values.ts'

export const command: TerminalCommand = {
  async run({ io, manifest, argv }) {
    const batch = parseBatch(argv, manifest, io.cwd)
    const context = { io, manifest, settings: readSettings(globalFlags(batch.flags), io) }
    return sendBatch(context, {
      batch,
      ...(batch.commands === null && { given: await readCommands(io) }),
      homeName: homeName(context),
      openHome: (session) =>
        openHome(context, session ? { when: 'running', absent: noEngineFor(session) } : { when: 'start' }),
    })
  },
}

async function readCommands(io: Io): Promise<Record<string, unknown>> {
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
