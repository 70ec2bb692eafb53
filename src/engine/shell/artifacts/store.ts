/**
 * Artifacts on disk, a folder for each session: `session.json` says how long they stay, `00001-art_….json` is an
 * artifact, `blobs/` has the bytes. They outlive their engine, so that what a one-liner has made can be fetched.
 */
import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { privateDir, writeWhole } from '../../../core/files.ts'
import { limits } from '../../../core/limits.ts'
import type { Artifact } from '../../../core/shapes/shell-artifacts.ts'
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
    await writeWhole(this.#sessionFile(sessionId), JSON.stringify(file))
  }

  /** The key that a session belongs to; undefined for one that has left nothing. */
  async ownerOf(sessionId: string): Promise<string | null | undefined> {
    if (!idForm.session.test(sessionId)) return undefined
    try {
      return (JSON.parse(await readFile(this.#sessionFile(sessionId), 'utf8')) as SessionFile).owner ?? null
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
      throw error
    }
  }

  /** `number` is its place among the artifacts of its session, from 1. */
  async add(artifact: Artifact, number: number): Promise<void> {
    const name = `${String(number).padStart(8, '0')}-${artifact.id}.json`
    await writeWhole(join(this.#folder, artifact.session_id, name), JSON.stringify(artifact))
    this.#homes.set(artifact.id, artifact.session_id)
  }

  /** The oldest first, after the one of number `after`; undefined for a session that has left none. */
  async list(sessionId: string, after: number, limit: number): Promise<Page | undefined> {
    if (!idForm.session.test(sessionId)) return undefined
    const names = await this.#manifests(sessionId)
    if (!names) return undefined
    const rest = names.filter((name) => numberOf(name) > after)
    const page = rest.slice(0, limit)
    const artifacts = await Promise.all(page.map((name) => this.#read(sessionId, name)))
    return { artifacts, last: rest.length > limit ? numberOf(page.at(-1)!) : null }
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

  async #read(sessionId: string, name: string): Promise<Artifact> {
    return JSON.parse(await readFile(join(this.#folder, sessionId, name), 'utf8')) as Artifact
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
      const file = await readFile(this.#sessionFile(session), 'utf8').catch(() => undefined)
      // A folder that is being made has none yet.
      if (file === undefined) continue
      const { ends_by, stopped_at } = JSON.parse(file) as SessionFile
      if (Date.parse(stopped_at ?? ends_by) + limits.artifacts.retentionMs > now) continue
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
}

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
