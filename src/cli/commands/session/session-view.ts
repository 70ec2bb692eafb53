/** `bax session view`: opens the live view of a session, or prints its address. */
import { call } from '../../../client/client.ts'
import { exits } from '../../../core/errors/errors.ts'
import type { LiveViewLink } from '../../../core/shapes/live-view.ts'
import { explainSession } from '../../session/chosen-session.ts'
import { operationNamed } from '../../context.ts'
import { openHome } from '../../engine/locate-engine.ts'
import { begin, type TerminalCommand } from '../../parse/invocation.ts'
import { type Io, note, print } from '../../io.ts'
import { needOf } from '../../engine/need.ts'
import { addOperation, readOperation } from '../../run-operation.ts'

export const command: TerminalCommand = {
  async run(invocation) {
    const operation = operationNamed(invocation.manifest, 'linkLiveView')
    const { context, typed } = begin(invocation, (flags) => {
      addOperation(flags, operation)
      flags.option('--print', 'print the address, and open nothing')
    })
    const { io, settings } = context
    const { input, source } = readOperation(context, operation, typed)
    const home = openHome(context, needOf(operation, input))
    try {
      const link = (await call(home.transport, operation.http, input, { signal: io.signal })) as LiveViewLink
      if (settings.json) print(io, JSON.stringify(link))
      else if (typed.flags['print'] || !io.stdout.isTTY || !hasScreen(io)) print(io, link.live_view_url)
      else await openPage(io, link.live_view_url)
      return exits.done
    } catch (error) {
      throw explainSession(error, source)
    } finally {
      await home.transport.close()
    }
  },
}

const hasScreen = ({ env, host }: Io): boolean =>
  host.platform === 'darwin' || host.platform === 'win32' || Boolean(env['DISPLAY'] || env['WAYLAND_DISPLAY'])

/** In the user's own browser; where there is none that opens, the address is what is left. */
async function openPage(io: Io, url: string): Promise<void> {
  const { default: open } = await import('open')
  try {
    await open(url)
    note(io, 'opened in your browser')
  } catch (error) {
    note(io, `no browser could be opened: ${(error as Error).message}`)
    print(io, url)
  }
}
