/** Access of callers to the files of their sessions. */
import type { Known } from '../../../core/access/relayed.ts'
import type { SessionFiles } from '../../../core/engine.ts'
import { BaxError } from '../../../core/errors/errors.ts'
import { type FindSession, ownSessions } from './own-session.ts'

const noFiles = () =>
  new BaxError('unsupported', 'a relay session has no files: they belong to the user of the browser', {
    hint: 'use a session of the engine ("bax session create")',
  })

/** Returns access to the files of the sessions; browsers that are connected through the relay have none. */
export function fileAccess(sessions: Known & { readonly live: FindSession }, relays: Known): SessionFiles {
  const find = ownSessions(sessions, relays, noFiles)
  return {
    list: async (id, { caller }) => {
      const files = find(id, caller).files.list()
      return { files, total: files.length }
    },
    open: async (id, name, { caller }) => {
      const session = find(id, caller)
      return session.files.open(name, () => session.hold())
    },
    receive: async ({ session_id, folder, name: last, overwrite }, body, { caller }) => {
      const session = find(session_id, caller)
      const name = folder === undefined ? last : `${folder}/${last}`
      return session.use(() => session.files.receive(name, body, { overwrite, signal: session.ended }))
    },
    remove: async (id, name, { caller }) => {
      const session = find(id, caller)
      await session.use(() => session.files.remove(name))
    },
  }
}
