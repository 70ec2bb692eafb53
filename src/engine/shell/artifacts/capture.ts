/** Looks at the output mounts of one session after every command, and keeps what is new or changed in them. */
import { newId } from '../../../core/ids.ts'
import { limits } from '../../../core/limits/limits.ts'
import type { Artifact, ArtifactFile, SkippedFile, SkipReason } from '../../../core/shapes/shell/artifacts.ts'
import { ContainerFault } from '../container.ts'
import type { ContainerFiles, FileFacts, WalkEntry } from '../container-files.ts'
import { shownName } from '../names.ts'
import { type Blobs, TooManyBytes } from './blobs.ts'
import { type Delivered, fileRecord } from './manifest.ts'
import type { ArtifactStore } from './store.ts'

/** What was seen of a name the last time. */
interface Seen {
  readonly state: string
  readonly sha256: string | null
}

/** What one look has found. */
interface Find {
  readonly id: string
  readonly files: ArtifactFile[]
  readonly skipped: SkippedFile[]
  readonly names: Set<string>
  /** What is remembered of the look when its artifact has been kept. */
  readonly seen: Map<string, Seen>
  cut: boolean
}

export interface CaptureOf {
  readonly id: string
  /** The key that the session belongs to; null where no keys are in use. */
  readonly owner: string | null
  readonly mounts: readonly string[]
  readonly endsBy: Date
}

/** Entries that one look reads at most; what is beyond them is not kept, and the artifact says so. */
const mostEntries = 10 * limits.artifacts.sessionFiles

export class ArtifactCapture {
  readonly #session: CaptureOf
  readonly #store: ArtifactStore
  readonly #blobs: Blobs
  /** By mount and name; keys are bytes written as latin1. */
  readonly #seen = new Map<string, Seen>()
  #bytes = 0
  #files = 0
  #turn: Promise<unknown> = Promise.resolve()
  /** Artifacts so far. */
  count = 0

  constructor(session: CaptureOf, store: ArtifactStore) {
    this.#session = session
    this.#store = store
    this.#blobs = store.blobsOf(session.id)
  }

  /** One look; null when nothing has changed. One after the other, so that every change belongs to one artifact. */
  take(files: ContainerFiles, execId: string | null): Promise<{ id: string; files: number } | null> {
    const turn = this.#turn.then(() => this.#take(files, execId))
    // The caller receives the error; the next capture is made all the same.
    this.#turn = turn.catch(() => {})
    return turn
  }

  /** The session has stopped: its artifacts stay for their time. */
  async end(stoppedAt: Date): Promise<void> {
    await this.#turn
    if (this.count > 0) await this.#store.noteSession(this.#session, stoppedAt)
  }

  async #take(files: ContainerFiles, execId: string | null): Promise<{ id: string; files: number } | null> {
    const find: Find = { id: newId('art'), files: [], skipped: [], names: new Set(), seen: new Map(), cut: false }
    for (const mount of this.#session.mounts) await this.#look(files, mount, find)
    const gone = find.cut ? [] : [...this.#seen].filter(([key]) => !find.names.has(key))
    const deleted = gone.filter(([, { sha256 }]) => sha256 !== null).map(([key]) => shownName(Buffer.from(key, 'latin1')).name) // prettier-ignore
    const isNews = find.files.length + find.skipped.length + deleted.length > 0
    if (isNews) await this.#store.add(await this.#artifact(find, deleted, execId), this.count + 1)
    for (const [key] of gone) this.#seen.delete(key)
    // Names beyond the cut are remembered only where an artifact has them: there may be any number of them.
    if (find.cut) for (const [key, { sha256 }] of this.#seen) if (sha256 === null && !find.names.has(key)) this.#seen.delete(key) // prettier-ignore
    for (const [key, seen] of find.seen) this.#seen.set(key, seen)
    if (!isNews) return null
    this.count += 1
    this.#files += find.files.length
    return { id: find.id, files: find.files.length }
  }

  async #artifact(find: Find, deleted: string[], execId: string | null): Promise<Artifact> {
    if (this.count === 0) await this.#store.noteSession(this.#session, null)
    const { id } = find
    const skipped = find.skipped.slice(0, limits.artifacts.skipped)
    const unlisted = find.cut || skipped.length < find.skipped.length
    return {
      id,
      artifact_id: id,
      session_id: this.#session.id,
      exec_id: execId,
      created_at: new Date().toISOString(),
      mount: this.#root,
      complete: !unlisted && skipped.every(({ reason }) => reason === 'symlink'),
      total_bytes: find.files.reduce((sum, { size }) => sum + size, 0),
      files: find.files,
      deleted,
      skipped,
    }
  }

  /** Where names begin: the mount, or `/` where there are several. */
  get #root(): string {
    const { mounts } = this.#session
    return mounts.length === 1 ? mounts[0]! : '/'
  }

  async #look(files: ContainerFiles, mount: string, find: Find): Promise<void> {
    const options = { maxDepth: limits.artifacts.depth, maxEntries: mostEntries, hidden: true }
    const entries: WalkEntry[] = []
    // Reading files while the walk goes on would make the walk wait.
    for await (const entry of files.walk(mount, options)) entries.push(entry)
    for (const entry of entries) {
      find.cut ||= entry.cut
      await this.#entry(files, mount, entry, find)
    }
  }

  async #entry(files: ContainerFiles, mount: string, entry: WalkEntry, find: Find): Promise<void> {
    const name = this.#root === '/' ? Buffer.concat([Buffer.from(`${mount.slice(1)}/`), entry.path]) : entry.path
    const key = Buffer.from(name).toString('latin1')
    if (entry.type === 'directory' && entry.unread === null) return
    find.names.add(key)
    const before = this.#seen.get(key)
    const state = stateOf(entry)
    if (before?.state === state) return
    const isOneTooMany = this.#files + find.files.length >= limits.artifacts.sessionFiles
    const outcome = refusal(entry) ?? (isOneTooMany ? 'file_count' : await this.#keep(files, mount, entry))
    if (typeof outcome === 'string') {
      find.seen.set(key, { state, sha256: null })
      const size = outcome === 'symlink' || outcome === 'vanished' ? {} : { size: entry.size }
      find.skipped.push({ ...shownName(name), reason: outcome, ...size })
      return
    }
    find.seen.set(key, { state: stateOf(outcome.facts), sha256: outcome.sha256 })
    // Written anew with the same bytes: there is nothing new to have.
    if (before?.sha256 === outcome.sha256) return
    const change = before?.sha256 ? 'modified' : 'created'
    const kept: Delivered = { ...outcome, artifactId: find.id, name, mount: this.#root, change }
    find.files.push(fileRecord(kept))
  }

  /** Copies a file into the store, or says why not. */
  async #keep(files: ContainerFiles, mount: string, entry: WalkEntry): Promise<Kept | SkipReason> {
    const { fileBytes, sessionBytes } = limits.artifacts
    if (entry.size > fileBytes) return 'file_too_large'
    const room = sessionBytes - this.#bytes
    if (entry.size > room) return 'session_quota'
    try {
      const stream = await files.readStream(entry.path, { beneath: mount, length: fileBytes + 1 })
      const blob = await this.#blobs.add(stream.data, Math.min(fileBytes, Math.max(room, 0)))
      const after = await stream.factsAfter
      if (!blob.known) this.#bytes += blob.size
      const unstable = after.changedNs !== stream.facts.changedNs || after.size !== blob.size
      return { facts: after, size: blob.size, sha256: blob.sha256, unstable }
    } catch (error) {
      return reasonOf(error, room < fileBytes)
    }
  }
}

interface Kept {
  readonly facts: FileFacts
  readonly size: number
  readonly sha256: string
  readonly unstable: boolean
}

/** Changes with every change to a file that its program could make. */
const stateOf = ({ type, size, changedNs, inode }: FileFacts): string => `${type} ${size} ${changedNs} ${inode}`

/** Why what is no readable file is not kept. */
function refusal({ type, unread }: WalkEntry): SkipReason | undefined {
  if (type === 'symlink') return 'symlink'
  if (type === 'directory') return unread === 'depth' ? 'too_deep' : 'unreadable'
  return type === 'file' ? undefined : 'not_a_file'
}

/** What happened to a file between the look and the reading. @throws what is a fault of ours, or the container's end. */
function reasonOf(error: unknown, quotaWasNear: boolean): SkipReason {
  if (error instanceof TooManyBytes) return quotaWasNear ? 'session_quota' : 'file_too_large'
  // There is no room for it on the engine's side.
  if ((error as NodeJS.ErrnoException).code === 'ENOSPC' && !(error instanceof ContainerFault)) return 'session_quota'
  if (!(error instanceof ContainerFault)) throw error
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return 'vanished'
  if (error.code === 'ELOOP') return 'symlink'
  return error.code === 'EISDIR' || error.code === 'ENXIO' || error.code === 'EINVAL' ? 'not_a_file' : 'unreadable'
}
