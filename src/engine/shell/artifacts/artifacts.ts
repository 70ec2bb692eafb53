/** Artifact operations: lists them by session, and opens their files. */
import type { Call, Content } from '../../../core/operation/call.ts'
import { type Caller, canSee } from '../../../core/access/caller.ts'
import { BaxError } from '../../../core/errors/errors.ts'
import type { Artifact, ArtifactList, ArtifactListInput } from '../../../core/shapes/shell/artifacts.ts'
import { percentDecoded, percentEncoded } from '../names.ts'
import type { ShellSessions } from '../session/sessions.ts'
import { fileNamed, servedType } from './manifest.ts'
import type { ArtifactStore, Page } from './store.ts'

export class Artifacts {
  readonly #store: ArtifactStore
  readonly #sessions: Pick<ShellSessions, 'idOf'>

  constructor(store: ArtifactStore, sessions: Pick<ShellSessions, 'idOf'>) {
    this.#store = store
    this.#sessions = sessions
  }

  async list({ session_id, limit, cursor }: ArtifactListInput, { caller }: Call): Promise<ArtifactList> {
    const known = this.#sessions.idOf(session_id, caller)
    const id = known ?? session_id
    if (known === undefined && !(await this.#sees(caller, id))) throw unknownSession(session_id)
    const page = await this.#store.list(id, cursor === undefined ? 0 : numberOf(cursor), limit)
    if (!page && known === undefined) throw unknownSession(session_id)
    const { artifacts, last, warning }: Page = page ?? { artifacts: [], last: null }
    const next_cursor = last === null ? null : cursorOf(last)
    return { session_id: id, artifacts, next_cursor, ...(warning !== undefined && { warning }) }
  }

  async get(artifactId: string, { caller }: Call): Promise<Artifact> {
    const artifact = await this.#store.get(artifactId)
    if (artifact && (await this.#sees(caller, artifact.session_id))) return artifact
    throw new BaxError('artifact_not_found', `no artifact has the id ${artifactId}`)
  }

  async #sees(caller: Caller, sessionId: string): Promise<boolean> {
    const owner = await this.#store.ownerOf(sessionId)
    return owner !== undefined && canSee(caller, owner)
  }

  async open(artifactId: string, name: string, call: Call): Promise<Content> {
    const artifact = await this.get(artifactId, call)
    const bytes = percentDecoded(name)
    const file = bytes && fileNamed(artifact, bytes)
    if (!file) {
      throw new BaxError('artifact_not_found', `the artifact ${artifactId} has no file of that name`, {
        hint: 'use a name from the list of the artifact, percent-encoded',
      })
    }
    const blobs = this.#store.blobsOf(artifact.session_id)
    if (!(await blobs.has(file.sha256, file.size)))
      throw new BaxError(
        'artifact_not_found',
        `the file ${JSON.stringify(file.name)} of the artifact is damaged: its bytes are missing`,
      )
    const last = bytes.subarray(bytes.lastIndexOf(0x2f) + 1)
    return {
      size: file.size,
      etag: file.sha256,
      contentType: servedType(file.content_type),
      fileName: percentEncoded(last),
      read: (start, end) => blobs.read(file, start, end),
    }
  }
}

const unknownSession = (id: string) =>
  new BaxError('shell_session_not_found', `no shell session is known as ${id}`, {
    hint: 'run `bax shell list` (GET /shell/sessions)',
  })

const cursorOf = (number: number): string => Buffer.from(`after ${number}`).toString('base64url')

function numberOf(cursor: string): number {
  const [, number] = /^after (\d+)$/.exec(Buffer.from(cursor, 'base64url').toString()) ?? []
  if (number !== undefined) return Number(number)
  throw new BaxError('invalid_request', 'cursor was not returned by this list', {
    details: [{ path: 'cursor', message: 'was not returned by this list' }],
  })
}
