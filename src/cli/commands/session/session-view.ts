/** `bax session view`: opens the live view of a session, or prints its URL. */
import { messageOf } from '../../../core/errors/errors.ts'
import { type Io, note, print } from '../../io.ts'
import { hasDisplay } from '../../engine/engine-config.ts'
import { operationCommand, type OperationShape } from '../../operation-command.ts'

const shape = {
  cli: 'session view [session-id]',
  summary: 'Open the live view of a session',
  place: 'own process',
  operation: 'linkLiveView',
  flags: (command) => void command.option('--print', 'print the URL without opening it'),
} satisfies OperationShape

export const command = operationCommand(shape, async ({ io, settings, typed, ask }) => {
  const link = await ask()
  if (settings.json) print(io, JSON.stringify(link))
  else if (typed.flags['print'] || !io.stdout.isTTY || !hasDisplay(io)) print(io, link.live_view_url)
  else await openPage(io, link.live_view_url)
})

/** Opens a page in the user's browser; prints the URL if that fails. */
async function openPage(io: Io, url: string): Promise<void> {
  const { default: open } = await import('open')
  try {
    await open(url)
    note(io, 'opened in your browser')
  } catch (error) {
    note(io, `cannot open a browser: ${messageOf(error)}`)
    print(io, url)
  }
}
