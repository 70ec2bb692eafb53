/** `bax session view`: opens the live view of a session, or prints its URL. */
import { call } from '../../../client/client.ts'
import type { LiveViewLink } from '../../../core/shapes/live-view.ts'
import { operationNamed } from '../../context.ts'
import { withSession } from '../../engine/locate-engine.ts'
import { parseInvocation, type TerminalCommand } from '../../parse/invocation.ts'
import { type Io, note, print } from '../../io.ts'
import { hasDisplay } from '../../engine/engine-config.ts'
import { needOf } from '../../engine/need.ts'
import { addOperation, readOperation } from '../../run-operation.ts'

export const command: TerminalCommand = async (invocation) => {
  const operation = operationNamed(invocation.manifest, 'linkLiveView')
  const { context, typed } = parseInvocation(invocation, (flags) => {
    addOperation(flags, operation)
    flags.option('--print', 'print the URL without opening it')
  })
  const { io, settings } = context
  const { input, source } = readOperation(context, operation, typed)
  return withSession(context, needOf(operation, input), source, async (engine) => {
    const link = (await call(engine.transport, operation.http, input, { signal: io.signal })) as LiveViewLink
    if (settings.json) print(io, JSON.stringify(link))
    else if (typed.flags['print'] || !io.stdout.isTTY || !hasDisplay(io)) print(io, link.live_view_url)
    else await openPage(io, link.live_view_url)
  })
}

/** Opens a page in the user's browser; prints the URL if that fails. */
async function openPage(io: Io, url: string): Promise<void> {
  const { default: open } = await import('open')
  try {
    await open(url)
    note(io, 'opened in your browser')
  } catch (error) {
    note(io, `cannot open a browser: ${(error as Error).message}`)
    print(io, url)
  }
}
