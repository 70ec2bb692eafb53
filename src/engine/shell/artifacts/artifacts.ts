/** Artifacts as they are asked for: by session, and file by file. */
import { type Caller, sees } from '../../../core/access/caller.ts'
import { BaxError } from '../../../core/errors/errors.ts'
import type { Artifact, ArtifactList, ArtifactListInput } from '../../../core/shapes/shell/artifacts.ts'
import type { Call } from '../../../core/operation/operation.ts'
import type { Content } from '../../../core/operation/transfer.ts'
import { percentDecoded, percentEncoded } from '../names.ts'
import { fileNamed, servedType } from './manifest.ts'
import type { ArtifactStore, Page } from './store.ts'

/** The sessions, as artifacts need them. */
interface SessionNames {
  /** The id of a session that is remembered, by id or name; undefined for others. */
  idOf(idOrName: string, caller: Caller): string | undefined
}

export class Artifacts {
  readonly #store: ArtifactStore
  readonly #sessions: SessionNames

  constructor(store: ArtifactStore, sessions: SessionNames) {
    this.#store = store
    this.#sessions = sessions
  }

  async list({ session_id, limit, cursor }: ArtifactListInput, { caller }: Call): Promise<ArtifactList> {
    const known = this.#sessions.idOf(session_id, caller)
    const id = known ?? session_id
    if (known === undefined && !(await this.#sees(caller, id))) throw noSession(session_id)
    const page = await this.#store.list(id, cursor === undefined ? 0 : numberIn(cursor), limit)
    if (!page && known === undefined) throw noSession(session_id)
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
    return owner !== undefined && sees(caller, owner)
  }

  async open(artifactId: string, name: string, call: Call): Promise<Content> {
    const artifact = await this.get(artifactId, call)
    const bytes = percentDecoded(name)
    const file = bytes && fileNamed(artifact, bytes)
    if (!file) {
      throw new BaxError('artifact_not_found', `the artifact ${artifactId} has no file of that name`, {
        hint: 'names are those of its list, percent-encoded',
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

const noSession = (id: string) =>
  new BaxError('shell_session_not_found', `no shell session is known as ${id}`, {
    hint: '`bax shell list` shows them (GET /shell/sessions)',
  })

const cursorOf = (number: number): string => Buffer.from(`after ${number}`).toString('base64url')

function numberIn(cursor: string): number {
  const [, number] = /^after (\d+)$/.exec(Buffer.from(cursor, 'base64url').toString()) ?? []
  if (number !== undefined) return Number(number)
  throw new BaxError('invalid_request', 'cursor is not one that this list gave', {
    details: [{ path: 'cursor', message: 'is not one that this list gave' }],
  })
}
