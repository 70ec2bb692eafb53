/** `bax session use`: chooses the default session. */
import { textWord } from '../../../lines/typed.ts'
import { Argument } from 'commander'
import { BaxError } from '../../../core/errors/errors.ts'
import { writeChoice } from '../../session/choose-session.ts'
import { noEngineFor, readChoice } from '../../session/chosen-session.ts'
import type { Context } from '../../context.ts'
import { withSession } from '../../engine/locate-engine.ts'
import { parseInvocation, type TerminalCommand } from '../../parse/invocation.ts'
import { note, print } from '../../io.ts'

export const command: TerminalCommand = {
  cli: 'session use [id|name]',
  summary: 'Choose the default session',
  example: ['bax session use shop', 'bax session use --clear'],
  place: 'engine',
  async run(invocation) {
    const { context, typed } = parseInvocation(invocation, (command) => {
      command.addArgument(new Argument('[id|name]', 'session to choose; without it, prints the current choice'))
      command.option('--clear', 'delete the choice')
    })
    const id = textWord(typed.words, 0)
    if (typed.flags['clear']) {
      if (id !== undefined) throw new BaxError('invalid_request', '--clear takes no session')
      return writeChoice(context.settings, undefined)
    }
    return id === undefined ? showChoice(context) : choose(context, id)
  },
}

function showChoice({ io, settings }: Context): void {
  const choice = readChoice(settings)
  if (settings.json) print(io, JSON.stringify(choice ?? null))
  else if (choice) print(io, choice.session_id)
  else note(io, 'no session is chosen')
}

async function choose(context: Context, session_id: string): Promise<void> {
  const { io, settings } = context
  if (settings.embedded)
    throw new BaxError('invalid_request', 'a session of an embedded engine ends with its command', {
      hint: 'leave out --embedded',
    })
  return withSession(context, { when: 'running', absent: noEngineFor(session_id) }, 'flag', async (engine) => {
    const record = await engine.ask('getSession', { session_id }, { signal: io.signal })
    if (record.status !== 'ready') {
      throw new BaxError('session_closed', `session ${session_id} is ${record.status}`, {
        hint: 'run "bax session list" for the live sessions',
      })
    }
    const choice = { session_id: record.session_id, home: engine.name }
    await writeChoice(settings, choice)
    if (settings.json) print(io, JSON.stringify(choice))
    else if (io.stderr.isTTY) note(io, `the default session is now ${record.name ?? record.session_id}`)
  })
}
