/** A line of the UI, read and run as `bax do` would. */
import { BaxError, exits } from '../../core/errors/errors.ts'
import type { Line } from '../../tui/desk.ts'
import type { Context } from '../context.ts'
import { HelpWanted } from '../parse/flags.ts'
import type { Home } from '../engine/locate-engine.ts'
import type { Io, Output } from '../io.ts'
import { parseBatch } from '../parse/parse-batch.ts'
import { sendBatch } from '../send-batch.ts'

/** @throws BaxError `invalid_request` that says what is wrong with the words. */
export function readLine(words: readonly string[], context: Context, home: Home): Line {
  const { manifest, io } = context
  // Whoever knows the command line types it whole.
  const argv = words[0] === 'bax' && words[1] === 'do' ? words.slice(2) : words
  try {
    const batch = parseBatch(argv, manifest, io.cwd)
    const { commands } = batch
    if (!commands)
      throw new BaxError('invalid_request', 'there is no standard input here', { hint: 'type the commands themselves' })
    return {
      commands: commands.map(({ command, data }) => ({ command, data })),
      async run(transport, sessionId, signal) {
        const said: string[] = []
        const code = await sendBatch(
          { ...context, io: quiet(io, said, signal), settings: { ...context.settings, json: false } },
          {
            batch: { commands, flags: { session: sessionId, ...batch.flags } },
            homeName: home.name,
            // The UI goes on with it.
            openHome: () => ({ ...home, transport: { ...transport, close: async () => {} } }),
          },
        )
        return { success: code === exits.done, text: said.join('').trimEnd() }
      },
    }
  } catch (error) {
    if (!(error instanceof HelpWanted)) throw error
    return { commands: [], run: async () => ({ success: true, text: error.text.trimEnd() }) }
  }
}

/** The terminal of a command whose words are shown elsewhere. */
function quiet(io: Io, said: string[], signal: AbortSignal): Io {
  const output = (isTTY: boolean): Output => ({ write: (chunk) => said.push(String(chunk)), isTTY })
  // Pictures are kept in files, as where somebody looks; colours and progress are the UI's own.
  return { ...io, stdout: output(true), stderr: output(false), env: { ...io.env, NO_COLOR: '1' }, signal }
}
