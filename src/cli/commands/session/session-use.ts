/** `bax session use`: remembers the session for the commands that name none. */
import { Argument } from 'commander'
import { call } from '../../../client/client.ts'
import { BaxError } from '../../../core/errors/errors.ts'
import type { SessionRecord } from '../../../core/shapes/session.ts'
import { writeChoice } from '../../session/choose-session.ts'
import { explainSession, noEngineFor, readChoice } from '../../session/chosen-session.ts'
import { type Context, operationNamed } from '../../context.ts'
import { openHome } from '../../engine/locate-engine.ts'
import { begin, type TerminalCommand } from '../../parse/invocation.ts'
import { note, print } from '../../io.ts'

export const command: TerminalCommand = {
  async run(invocation) {
    const { context, typed } = begin(invocation, (command) => {
      command.addArgument(new Argument('[id|name]', 'session to choose; without it the present choice is printed'))
      command.option('--clear', 'forget the choice')
    })
    const id = typed.words[0] as string | undefined
    if (typed.flags['clear']) {
      if (id !== undefined) throw new BaxError('invalid_request', '--clear takes no session')
      await writeChoice(context.settings, undefined)
      return 0
    }
    return id === undefined ? showChoice(context) : choose(context, id)
  },
}

function showChoice({ io, settings }: Context): number {
  const choice = readChoice(settings)
  if (settings.json) print(io, JSON.stringify(choice ?? null))
  else if (choice) print(io, choice.session_id)
  else note(io, 'no session is chosen')
  return 0
}

async function choose(context: Context, session_id: string): Promise<number> {
  const { io, settings, manifest } = context
  if (settings.embedded)
    throw new BaxError('invalid_request', 'a session of an embedded engine ends with its command', {
      hint: 'leave --embedded out',
    })
  const home = openHome(context, { when: 'running', absent: noEngineFor(session_id) })
  try {
    const { http } = operationNamed(manifest, 'getSession')
    const record = (await call(home.transport, http, { session_id }, { signal: io.signal })) as SessionRecord
    if (record.status !== 'ready') {
      throw new BaxError('session_closed', `session ${session_id} is ${record.status}`, {
        hint: '`bax session list` shows the live ones',
      })
    }
    const choice = { session_id: record.session_id, home: home.name }
    await writeChoice(settings, choice)
    if (settings.json) print(io, JSON.stringify(choice))
    else if (io.stderr.isTTY) note(io, `commands that name no session now use ${record.name ?? record.session_id}`)
    return 0
  } catch (error) {
    throw explainSession(error, 'flag')
  } finally {
    await home.transport.close()
  }
}
