/** `bax do`: runs a batch of browser commands in one request. */
import { noEngineFor } from '../../session/chosen-session.ts'
import { locateEngine, engineName } from '../../engine/locate-engine.ts'
import type { Invocation, TerminalCommand } from '../../parse/invocation.ts'
import { parseBatch } from '../../parse/parse-batch.ts'
import type { BatchKind, TypedBatch } from '../../parse/batch.ts'
import { sendBatch, type BatchVariant } from '../../send-batch.ts'
import { readSettings } from '../../settings.ts'
import { readCommands } from '../../parse/stdin-commands.ts'
import { globalFlags } from '../../parse/values.ts'
import type { Context } from '../../context.ts'

export const command: TerminalCommand = (invocation) => runBatch(invocation)

type Given = Readonly<Record<string, unknown>>

/** Parses and sends a batch; `step` changes both for `bax step`. */
export async function runBatch(
  { io, manifest, argv }: Invocation,
  step?: { parse: BatchKind; send(context: Context, batch: TypedBatch, given: Given): BatchVariant },
): Promise<number> {
  const batch = parseBatch(argv, manifest, io.cwd, step?.parse)
  const context = { io, manifest, settings: readSettings(globalFlags(batch.flags), io) }
  const given = batch.commands === null ? await readCommands(io) : {}
  return sendBatch(context, {
    batch,
    given,
    engineName: engineName(context),
    openEngine: (session) =>
      locateEngine(context, session ? { when: 'running', absent: noEngineFor(session) } : { when: 'start' }),
    ...(step && { kind: step.send(context, batch, given) }),
  })
}
