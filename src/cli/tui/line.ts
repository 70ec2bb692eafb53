/** Command lines of the terminal UI, parsed and run like `bax do`, or saved as a script for `bax run`. */
import { callsOf } from '../../client/calls.ts'
import { BaxError, exits } from '../../core/errors/errors.ts'
import { shortStep } from '../../core/text/script/write-step.ts'
import type { Manifest } from '../../operations/manifest.ts'
import type { ParsedLine, TypedCommand } from '../../tui/host.ts'
import type { Context } from '../context.ts'
import { plainWidth } from '../../lines/help-layout.ts'
import { isHelpWanted } from '../../lines/help-wanted.ts'
import type { LocatedEngine } from '../engine/locate-engine.ts'
import type { Io, Output } from '../io.ts'
import { parseBatch } from '../../lines/parse-batch.ts'
import { sendBatch } from '../send-batch.ts'

/** Parses a line. @throws BaxError `invalid_request` */
export function readLine(words: readonly string[], context: Context, engine: LocatedEngine): ParsedLine {
  const { manifest, io } = context
  // Users may type the whole command.
  const argv = words[0] === 'bax' && words[1] === 'do' ? words.slice(2) : words
  try {
    const batch = parseBatch(argv, manifest, io.cwd)
    const { commands } = batch
    if (!commands)
      throw new BaxError('invalid_request', 'there is no standard input here', {
        hint: 'type the commands instead of -',
      })
    return {
      commands: commands.map(({ command, data }) => ({ command, data })),
      async run(transport, sessionId, signal) {
        const chunks: string[] = []
        const code = await sendBatch(
          { ...context, io: capturing(io, chunks, signal), settings: { ...context.settings, json: false } },
          {
            batch: { commands, flags: { session: sessionId, ...batch.flags } },
            // The UI keeps using the connection.
            engine: {
              ...engine,
              ...callsOf(transport, manifest.operations),
              transport: { ...transport, close: async () => {} },
            },
          },
        )
        return { success: code === exits.done, text: chunks.join('').trimEnd() }
      },
    }
  } catch (error) {
    if (!isHelpWanted(error)) throw error
    return { commands: [], run: async () => ({ success: true, text: error.text(plainWidth).trimEnd() }) }
  }
}

/** Returns an `Io` that collects the output of a command. */
function capturing(io: Io, chunks: string[], signal: AbortSignal): Io {
  const output = (isTTY: boolean): Output => ({ write: (chunk) => chunks.push(String(chunk)), isTTY })
  // A terminal on stdout makes screenshots go to files; the UI has its own colours and progress.
  return { ...io, stdout: output(true), stderr: output(false), env: { ...io.env, NO_COLOR: '1' }, signal }
}

/** Converts typed commands to a script. */
export async function writeScript(
  commands: readonly TypedCommand[],
  { name }: { readonly name: string },
  manifest: Manifest,
): Promise<string> {
  const { default: yaml } = await import('yaml')
  return yaml.stringify({ name, steps: commands.map((command) => shortStep(command, manifest)) }, { lineWidth: 0 })
}
