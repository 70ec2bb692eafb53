/** Artifact operations: lists them by session, and opens their files. */
import type { Call } from '../../../core/operation/call.ts'
import { type Caller, canSee } from '../../../core/access/caller.ts'
import { BaxError } from '../../../core/errors/errors.ts'
import type { Artifact } from '../../../core/shapes/shell/artifacts.ts'
import type { Shells } from '../../../core/shells.ts'
import { baseName } from '../files/paths.ts'
import { percentDecoded, percentEncoded } from '../../name-bytes.ts'
import type { ShellSessions } from '../session/sessions.ts'
import { fileNamed, servedType } from './manifest.ts'
import type { ArtifactStore } from './store.ts'

export function artifactOperations(store: ArtifactStore, sessions: Pick<ShellSessions, 'idOf'>): Shells['artifacts'] {
  const sees = async (caller: Caller, sessionId: string): Promise<boolean> => {
    const owner = await store.ownerOf(sessionId)
    return owner !== undefined && canSee(caller, owner)
  }
  const get = async (artifactId: string, { caller }: Call): Promise<Artifact> => {
    const artifact = await store.get(artifactId)
    if (artifact && (await sees(caller, artifact.session_id))) return artifact
    throw new BaxError('artifact_not_found', `no artifact has the id ${artifactId}`)
  }
  return {
    get,
    list: async ({ session_id, limit, cursor }, { caller }) => {
      const known = sessions.idOf(session_id, caller)
      const id = known ?? session_id
      if (known === undefined && !(await sees(caller, id))) throw unknownSession(session_id)
      const page = await store.list(id, cursor === undefined ? 0 : numberOf(cursor), limit)
      if (!page && known === undefined) throw unknownSession(session_id)
      const { artifacts, last, warning } = page ?? { artifacts: [], last: null }
      const next_cursor = last === null ? null : cursorOf(last)
      return { session_id: id, artifacts, next_cursor, ...(warning !== undefined && { warning }) }
    },
    open: async (artifactId, name, call) => {
      const artifact = await get(artifactId, call)
      const bytes = percentDecoded(name)
      const file = bytes && fileNamed(artifact, bytes)
      if (!file) {
        throw new BaxError('artifact_not_found', `the artifact ${artifactId} has no file of that name`, {
          hint: 'use a name from the list of the artifact, percent-encoded',
        })
      }
      const blobs = store.blobsOf(artifact.session_id)
      if (!(await blobs.has(file.sha256, file.size)))
        throw new BaxError(
          'artifact_not_found',
          `the file ${JSON.stringify(file.name)} of the artifact is damaged: its bytes are missing`,
        )
      return {
        size: file.size,
        etag: file.sha256,
        contentType: servedType(file.content_type),
        fileName: percentEncoded(baseName(bytes)),
        read: (start, end) => blobs.read(file, start, end),
      }
    },
  }
}

const unknownSession = (id: string) =>
  new BaxError('shell_session_not_found', `no shell session is known as ${id}`, {
    hint: 'run "bax shell list" (GET /shell/sessions)',
  })

const cursorOf = (number: number): string => Buffer.from(`after ${number}`).toString('base64url')

function numberOf(cursor: string): number {
  const [, number] = /^after (\d+)$/.exec(Buffer.from(cursor, 'base64url').toString()) ?? []
  if (number !== undefined) return Number(number)
  throw new BaxError('invalid_request', 'cursor was not returned by this list', {
    details: [{ path: 'cursor', message: 'was not returned by this list' }],
  })
}
