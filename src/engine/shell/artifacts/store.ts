/**
 * Artifacts on disk, a folder for each session: `session.json` says how long they stay, `00001-art_….json` is an
 * artifact, `blobs/` has the bytes. They outlive their engine, so that what a one-liner has made can be fetched.
 */
import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { privateDir } from '../../../core/state/files.ts'
import { limits } from '../../../core/limits/limits.ts'
import type { Artifact } from '../../../core/shapes/shell/artifacts.ts'
import { damageWarning, isAside, readEach, readState, writeState } from '../../../core/state/state-file.ts'
import { stateKinds } from '../../../core/state/state-kinds.ts'
import { Blobs } from './blobs.ts'

interface SessionFile {
  readonly session_id: string
  /** When the session will have ended at the latest, for one whose engine died. */
  readonly ends_by: string
  readonly stopped_at: string | null
  /** The key that it belongs to; nobody's without keys. */
  readonly owner?: string | null
}

interface NotedSession {
  readonly id: string
  readonly owner: string | null
  readonly endsBy: Date
}

const idForm = { session: /^sh_[\w-]{20}$/, artifact: /^art_[\w-]{20}$/ } as const
const sweepEveryMs = 60 * 60_000

export class ArtifactStore {
  readonly #folder: string
  /** Folders of artifacts that were looked up before. */
  readonly #homes = new Map<string, string>()
  #sweeping: Promise<void> | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(stateDir: string) {
    this.#folder = join(stateDir, 'artifacts')
  }

  /** Removes what is kept no longer, now and then; `close` ends it. */
  async start(): Promise<void> {
    this.#timer ??= setInterval(() => void this.#sweep(), sweepEveryMs).unref()
    await (this.#sweeping ??= this.#sweep())
  }

  close(): void {
    clearInterval(this.#timer)
  }

  blobsOf(sessionId: string): Blobs {
    return new Blobs(join(this.#folder, sessionId, 'blobs'))
  }

  /** Notes when a session ends, or has ended. */
  async noteSession(session: NotedSession, stoppedAt: Date | null): Promise<void> {
    const { id: sessionId, owner, endsBy } = session
    await privateDir(join(this.#folder, sessionId))
    const file: SessionFile = {
      session_id: sessionId,
      ends_by: endsBy.toISOString(),
      stopped_at: stoppedAt?.toISOString() ?? null,
      owner,
    }
    await writeState(this.#sessionFile(sessionId), file)
  }

  /** The key that a session belongs to; undefined for one that has left nothing, null where a damaged file no longer says. */
  async ownerOf(sessionId: string): Promise<string | null | undefined> {
    if (!idForm.session.test(sessionId)) return undefined
    const { good, bad } = this.#readSession(sessionId)
    if (good.length > 0) return good[0]!.owner ?? null
    const names = bad.length > 0 ? [] : await readFolder(join(this.#folder, sessionId))
    return bad.length > 0 || names?.some(isAside) ? null : undefined
  }

  /** `number` is its place among the artifacts of its session, from 1. */
  async add(artifact: Artifact, number: number): Promise<void> {
    const name = `${String(number).padStart(8, '0')}-${artifact.id}.json`
    await writeState(join(this.#folder, artifact.session_id, name), artifact)
    this.#homes.set(artifact.id, artifact.session_id)
  }

  /** The oldest first, after the one of number `after`; undefined for a session that has left none. */
  async list(sessionId: string, after: number, limit: number): Promise<Page | undefined> {
    if (!idForm.session.test(sessionId)) return undefined
    const names = await this.#manifests(sessionId)
    if (!names) return undefined
    const rest = names.filter((name) => numberOf(name) > after)
    const page = rest.slice(0, limit)
    const { good: artifacts, bad } = readEach(page, (name) => this.#read(sessionId, name))
    const warning = damageWarning(stateKinds.artifact, join(this.#folder, sessionId), bad)
    return {
      artifacts,
      last: rest.length > limit ? numberOf(page.at(-1)!) : null,
      ...(warning !== undefined && { warning }),
    }
  }

  async get(artifactId: string): Promise<Artifact | undefined> {
    if (!idForm.artifact.test(artifactId)) return undefined
    const known = this.#homes.get(artifactId)
    const sessions = known === undefined ? await this.#sessions() : [known]
    for (const session of sessions) {
      const name = (await this.#manifests(session))?.find((file) => file.endsWith(`-${artifactId}.json`))
      if (name === undefined) continue
      this.#homes.set(artifactId, session)
      return this.#read(session, name)
    }
    return undefined
  }

  #read(sessionId: string, name: string): Artifact | undefined {
    return readState<Artifact>(join(this.#folder, sessionId, name), stateKinds.artifact)
  }

  #readSession(sessionId: string): { good: SessionFile[]; bad: readonly unknown[] } {
    return readEach([this.#sessionFile(sessionId)], (path) => readState<SessionFile>(path, stateKinds.artifactSession))
  }

  async #manifests(sessionId: string): Promise<string[] | undefined> {
    const names = await readFolder(join(this.#folder, sessionId))
    return names?.filter((name) => /^\d+-art_.*\.json$/.test(name)).toSorted()
  }

  async #sessions(): Promise<string[]> {
    return ((await readFolder(this.#folder)) ?? []).filter((name) => idForm.session.test(name))
  }

  async #sweep(): Promise<void> {
    const now = Date.now()
    for (const session of await this.#sessions()) {
      const [file] = this.#readSession(session).good
      // A folder that is being made has no file yet; where it was damaged, the folder's own time counts.
      const endedAt = file ? Date.parse(file.stopped_at ?? file.ends_by) : await changedAt(join(this.#folder, session))
      if (endedAt + limits.artifacts.retentionMs > now) continue
      await rm(join(this.#folder, session), { recursive: true, force: true })
      for (const [artifact, home] of this.#homes) if (home === session) this.#homes.delete(artifact)
    }
  }

  #sessionFile(sessionId: string): string {
    return join(this.#folder, sessionId, 'session.json')
  }
}

export interface Page {
  readonly artifacts: Artifact[]
  /** Number of the last one when more follow. */
  readonly last: number | null
  /** Names artifacts that cannot be read. */
  readonly warning?: string
}

/** When a folder has changed last; now for one that is gone. */
const changedAt = (folder: string): Promise<number> => stat(folder).then(({ mtimeMs }) => mtimeMs, () => Date.now()) // prettier-ignore

const numberOf = (name: string): number => Number.parseInt(name, 10)

async function readFolder(path: string): Promise<string[] | undefined> {
  try {
    return await readdir(path)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    throw error
  }
}
