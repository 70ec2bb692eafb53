/** `bax do`: runs a batch of browser commands in one request. */
import { isMapping } from '../../../core/text/is-mapping.ts'
import { BaxError, messageOf } from '../../../core/errors/errors.ts'
import { type Io, readStdin } from '../../io.ts'
import { contextOf, type Invocation, type TerminalCommand } from '../../parse/invocation.ts'
import { doKind, parseBatch } from '../../../lines/parse-batch.ts'
import type { BatchKind, TypedBatch } from '../../../lines/batch.ts'
import { sendBatch, type BatchVariant } from '../../send-batch.ts'
import { renameCommands } from '../../parse/command-names.ts'
import type { Context } from '../../context.ts'

export const command: TerminalCommand = {
  cli: 'do <command> …',
  summary: 'Run browser commands joined by `then`',
  example: [
    "bax do navigate-to https://example.com then click 'a' then get-title",
    'bax do -s shop screenshot --full-page -o page.png',
    'bax do - < commands.json',
  ],
  place: 'engine',
  run: (invocation) => runBatch(invocation),
}

type Given = Readonly<Record<string, unknown>>

/** Parses and sends a batch; `step` changes both for `bax step`. */
export async function runBatch(
  invocation: Invocation,
  step?: { parse: BatchKind; send(context: Context, batch: TypedBatch, given: Given): BatchVariant },
): Promise<number> {
  const { io, manifest, argv, examples } = invocation
  const batch = parseBatch(argv, manifest, io.cwd, step?.parse ?? doKind(manifest, examples))
  const context = contextOf(invocation, batch.flags)
  const given = batch.commands === null ? await readCommands(io) : {}
  return sendBatch(context, { batch, given, ...(step && { kind: step.send(context, batch, given) }) })
}

const hint = 'pass an array such as [{"command":"get_title"}]'

/** Reads the body of a request; a list becomes `{commands}`. @throws BaxError `invalid_json`, `invalid_request` */
export async function readCommands(io: Io): Promise<Record<string, unknown>> {
  const text = await readStdin(io)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    const message = `standard input is not JSON: ${messageOf(error)}`
    throw new BaxError('invalid_json', message, { hint, cause: error })
  }
  if (Array.isArray(value)) return renameCommands({ commands: value })
  if (isMapping(value)) return renameCommands(value)
  throw new BaxError('invalid_request', 'standard input must be a JSON array of commands', { hint })
}
