/** `bax do`: commands of the catalogue, one batch, one request. */
import { noEngineFor } from '../../session/chosen-session.ts'
import { homeName, openHome } from '../../engine/locate-engine.ts'
import type { TerminalCommand } from '../../parse/invocation.ts'
import { parseBatch } from '../../parse/parse-batch.ts'
import { sendBatch } from '../../send-batch.ts'
import { readSettings } from '../../settings.ts'
import { readCommands } from '../../parse/stdin-commands.ts'
import { globalFlags } from '../../parse/values.ts'

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
