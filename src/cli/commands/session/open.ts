/** `bax open`: opens a page in a session, which is created if it does not exist. */
import { textWord } from '../../../lines/typed.ts'
import { Argument } from 'commander'
import type { Calls, Unchecked } from '../../../client/calls.ts'
import { BaxError, exits } from '../../../core/errors/errors.ts'
import { type Context, operationNamed } from '../../context.ts'
import { withSession } from '../../engine/locate-engine.ts'
import { print } from '../../io.ts'
import { findEntry, flagFields } from '../../../lines/batch.ts'
import { addNewSessionFlag, addParam, addSessionFlag } from '../../../lines/flags.ts'
import { parseInvocation, type TerminalCommand } from '../../parse/invocation.ts'
import { batchSession, sendBatch } from '../../send-batch.ts'
import { createReady } from '../../session/create-session.ts'
import type { FoundSession } from '../../session/chosen-session.ts'
import { inNamedSession } from '../../session/named-session.ts'
import { assertSame, liveSession } from '../../session/open-named.ts'

/** Fields of a new session that the URL and the session flag set. */
const without: ReadonlySet<string> = new Set(['start_url', 'requested_name'])

export const command: TerminalCommand = {
  cli: 'open [url]',
  summary: 'Open a page in a browser session',
  example: [
    'bax open example.com',
    'bax open https://example.com -s shop',
    'bax open example.com --new-session --locale de-DE',
  ],
  place: 'engine',
  async run(invocation) {
    const { manifest, io } = invocation
    const timeout = findEntry('navigate_to', manifest)!.params.find(({ name }) => name === 'timeout_ms')!
    const params = operationNamed(manifest, 'createSession').params.filter(({ name }) => !without.has(name))
    const { context, typed } = parseInvocation(invocation, (command) => {
      command.addArgument(new Argument('[url]', 'page to open; https:// may be left out'))
      addSessionFlag(command)
      addNewSessionFlag(command)
      for (const param of [...params, timeout]) addParam(command, param)
    })
    if (context.settings.embedded)
      throw new BaxError('invalid_request', 'a session of an embedded engine ends with its command', {
        hint: 'leave out --embedded, or use "bax do"',
      })
    const url = textWord(typed.words, 0)
    const creation = flagFields(params, typed.flags, io.cwd)
    const named = batchSession(context, typed.flags)
    return withSession(context, { when: 'start' }, named?.source, async (engine) => {
      const session_id = named
        ? await idOf(context, engine, named, creation)
        : await createReady(context, engine, creation)
      if (url !== undefined) {
        const batch = {
          commands: [{ command: 'navigate_to', data: { url, ...flagFields([timeout], typed.flags, io.cwd) } }],
          flags: { session: session_id },
        }
        return sendBatch(context, {
          batch,
          engine: { ...engine, transport: { ...engine.transport, close: async () => {} } },
        })
      }
      const { settings } = context
      if (settings.json) print(io, JSON.stringify(await liveSession(context, engine, session_id)))
      else print(io, session_id)
      return exits.done
    })
  },
}

/** Returns the ID of a session, which is created if there is none with the name. */
async function idOf(
  context: Context,
  calls: Calls,
  { id, source }: FoundSession,
  creation: Unchecked,
): Promise<string> {
  const session = { name: id, creation, opens: true }
  const relayed = source === 'default' ? undefined : await relayNamed(context, calls, id)
  if (relayed !== undefined) return relayed
  const find = async () => (await liveSession(context, calls, id)).session_id
  // A new session would not have this ID.
  if (source !== 'choice' && !/^(?:ses|rly)_/.test(id)) return inNamedSession(context, calls, session, find)
  if (Object.keys(creation).length > 0) await assertSame(context, calls, session)
  return find()
}

/** Returns the ID of the connected browser with an ID or name, if there is one that the caller may use. */
async function relayNamed({ io }: Context, { ask }: Calls, name: string): Promise<string | undefined> {
  try {
    const { sessions } = await ask('listRelays', {}, { signal: io.signal })
    return sessions.find((relay) => relay.id === name || relay.name === name)?.id
  } catch (error) {
    if (error instanceof BaxError && error.code === 'forbidden_scope') return undefined
    throw error
  }
}
