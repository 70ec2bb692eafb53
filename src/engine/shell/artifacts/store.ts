/**
 * Stores artifacts on disk, with a folder per session: `session.json` holds their retention, `00000001-art_….json` is
 * an artifact, `blobs/` has the bytes. They outlive their engine, so that the results of one-shot commands can be
 * fetched.
 */
import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { privateDir } from '../../../core/state/files.ts'
import { limits } from '../../../core/limits/limits.ts'
import type { Artifact } from '../../../core/shapes/shell/artifacts.ts'
import { damageWarning, isAside, readEach, readState, writeState } from '../../../core/state/state-file.ts'
import { stateKinds } from '../../../core/state/state-kinds.ts'
import { Blobs } from './blobs.ts'
import type { CapturedSession } from './capture.ts'

interface SessionFile {
  readonly session_id: string
  /** Latest possible end of the session, in case its engine crashes. */
  readonly ends_by: string
  readonly stopped_at: string | null
  /** Key that owns it; null without keys. */
  readonly owner?: string | null
}

const idPattern = { session: /^sh_[\w-]{20}$/, artifact: /^art_[\w-]{20}$/ } as const
const sweepEveryMs = 60 * 60_000

export class ArtifactStore {
  readonly #folder: string
  /** Session IDs by artifact ID, from earlier lookups. */
  readonly #sessionIds = new Map<string, string>()
  #sweeping: Promise<void> | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(stateDir: string) {
    this.#folder = join(stateDir, 'artifacts')
  }

  /** Removes expired artifacts periodically until `close`. */
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

  /** Records when a session ends, or has ended. */
  async noteSession(session: Omit<CapturedSession, 'mounts'>, stoppedAt: Date | null): Promise<void> {
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

  /** Returns the key of a session; undefined if it has no artifacts, null if a damaged file does not tell. */
  async ownerOf(sessionId: string): Promise<string | null | undefined> {
    if (!idPattern.session.test(sessionId)) return undefined
    const { good, bad } = this.#readSession(sessionId)
    if (good.length > 0) return good[0]!.owner ?? null
    const names = bad.length > 0 ? [] : await readFolder(join(this.#folder, sessionId))
    return bad.length > 0 || names?.some(isAside) ? null : undefined
  }

  /** @param number Position among the artifacts of its session, from 1. */
  async add(artifact: Artifact, number: number): Promise<void> {
    const name = `${String(number).padStart(8, '0')}-${artifact.id}.json`
    await writeState(join(this.#folder, artifact.session_id, name), artifact)
    this.#sessionIds.set(artifact.id, artifact.session_id)
  }

  /**
   * Lists artifacts, oldest first, after number `after`; undefined for a session without artifacts. `last` is the number
   * of the last one if more follow.
   */
  async list(sessionId: string, after: number, limit: number) {
    if (!idPattern.session.test(sessionId)) return undefined
    const names = await this.#manifests(sessionId)
    if (!names) return undefined
    const rest = names.filter((name) => numberOf(name) > after)
    const page = rest.slice(0, limit)
    const { good: artifacts, bad } = readEach(page, (name) => this.#read(sessionId, name))
    const warning = damageWarning(stateKinds.artifact, join(this.#folder, sessionId), bad)
    return { artifacts, last: rest.length > limit ? numberOf(page.at(-1)!) : null, warning }
  }

  async get(artifactId: string): Promise<Artifact | undefined> {
    if (!idPattern.artifact.test(artifactId)) return undefined
    const known = this.#sessionIds.get(artifactId)
    const sessions = known === undefined ? await this.#sessions() : [known]
    for (const session of sessions) {
      const name = (await this.#manifests(session))?.find((file) => file.endsWith(`-${artifactId}.json`))
      if (name === undefined) continue
      this.#sessionIds.set(artifactId, session)
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
    return ((await readFolder(this.#folder)) ?? []).filter((name) => idPattern.session.test(name))
  }

  async #sweep(): Promise<void> {
    const now = Date.now()
    for (const session of await this.#sessions()) {
      const [file] = this.#readSession(session).good
      // A new folder has no file yet; if the file is damaged, the time of the folder counts.
      const endedAt = file ? Date.parse(file.stopped_at ?? file.ends_by) : await changedAt(join(this.#folder, session))
      if (endedAt + limits.artifacts.retentionMs > now) continue
      await rm(join(this.#folder, session), { recursive: true, force: true })
      for (const [artifact, sessionId] of this.#sessionIds) if (sessionId === session) this.#sessionIds.delete(artifact)
    }
  }

  #sessionFile(sessionId: string): string {
    return join(this.#folder, sessionId, 'session.json')
  }
}

/** Returns when a folder was last changed; now if it no longer exists. */
const changedAt = (folder: string): Promise<number> =>
  stat(folder).then(
    ({ mtimeMs }) => mtimeMs,
    () => Date.now(),
  )

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
