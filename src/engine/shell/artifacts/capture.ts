/** Scans the output mounts of one session after every command, and stores new and changed files. */
import type { EngineConfig } from '../../../core/config/config.ts'
import { newId } from '../../../core/ids.ts'
import { limits } from '../../../core/limits/limits.ts'
import type { Artifact, ArtifactFile, SkippedFile, SkipReason } from '../../../core/shapes/shell/artifacts.ts'
import { bindRecord } from '../../bound.ts'
import { ContainerError } from '../container.ts'
import type { FileFacts, WalkEntry } from '../container-files.ts'
import type { ContainerFiles } from '../interface.ts'
import { shownName } from '../../name-bytes.ts'
import { type Blobs, TooManyBytes } from './blobs.ts'
import { fileRecord, type StoredFile } from './manifest.ts'
import type { ArtifactStore } from './store.ts'

/** State of a file at the previous scan. */
interface Seen {
  readonly state: string
  readonly sha256: string | null
}

interface Scan {
  readonly id: string
  readonly files: ArtifactFile[]
  readonly skipped: SkippedFile[]
  readonly names: Set<string>
  /** State to remember once the artifact is stored. */
  readonly seen: Map<string, Seen>
  cut: boolean
}

export interface CapturedSession {
  readonly id: string
  /** Key that owns the session; null where no keys are in use. */
  readonly owner: string | null
  readonly mounts: readonly string[]
  readonly endsBy: Date
}

/** Maximum number of entries per scan; if there are more, the artifact is marked incomplete. */
const maxEntries = 10 * limits.artifacts.sessionFiles

export class ArtifactCapture {
  readonly #session: CapturedSession
  readonly #store: ArtifactStore
  readonly #config: Pick<EngineConfig, 'bound' | 'log'>
  readonly #blobs: Blobs
  /** Files by mount and name; keys are bytes encoded as latin1. */
  readonly #seen = new Map<string, Seen>()
  #bytes = 0
  #files = 0
  #queue: Promise<unknown> = Promise.resolve()
  count = 0

  constructor(session: CapturedSession, store: ArtifactStore, config: Pick<EngineConfig, 'bound' | 'log'>) {
    this.#session = session
    this.#config = config
    this.#store = store
    this.#blobs = store.blobsOf(session.id)
  }

  /** Scans once; null if nothing changed. Scans run in sequence, so that a change belongs to one artifact. */
  scan(files: ContainerFiles, execId: string | null): Promise<{ id: string; files: number } | null> {
    const turn = this.#queue.then(() => this.#scan(files, execId))
    // The caller receives the error; the next scan still runs.
    this.#queue = turn.catch(() => {})
    return turn
  }

  /** Notes that the session has stopped; its artifacts stay for the retention time. */
  async end(stoppedAt: Date): Promise<void> {
    await this.#queue
    if (this.count > 0) await this.#store.noteSession(this.#session, stoppedAt)
  }

  async #scan(files: ContainerFiles, execId: string | null): Promise<{ id: string; files: number } | null> {
    const scan: Scan = { id: newId('art'), files: [], skipped: [], names: new Set(), seen: new Map(), cut: false }
    for (const mount of this.#session.mounts) await this.#scanMount(files, mount, scan)
    const removed = scan.cut ? [] : [...this.#seen].filter(([key]) => !scan.names.has(key))
    const deleted = removed
      .filter(([, { sha256 }]) => sha256 !== null)
      .map(([key]) => shownName(Buffer.from(key, 'latin1')).name)
    const hasChanges = scan.files.length + scan.skipped.length + deleted.length > 0
    if (hasChanges) {
      const { owner, endsBy } = this.#session
      const keptMs = endsBy.getTime() - Date.now() + limits.artifacts.retentionMs
      await bindRecord(this.#config, { id: scan.id, kind: 'artifact', owner }, keptMs)
      await this.#store.add(await this.#artifact(scan, deleted, execId), this.count + 1)
    }
    for (const [key] of removed) this.#seen.delete(key)
    // After a cut-off scan, forget unseen names without a stored file: their number is unlimited.
    if (scan.cut)
      for (const [key, { sha256 }] of this.#seen) if (sha256 === null && !scan.names.has(key)) this.#seen.delete(key)
    for (const [key, seen] of scan.seen) this.#seen.set(key, seen)
    if (!hasChanges) return null
    this.count += 1
    this.#files += scan.files.length
    return { id: scan.id, files: scan.files.length }
  }

  async #artifact(scan: Scan, deleted: string[], execId: string | null): Promise<Artifact> {
    if (this.count === 0) await this.#store.noteSession(this.#session, null)
    const { id } = scan
    const skipped = scan.skipped.slice(0, limits.artifacts.skipped)
    const unlisted = scan.cut || skipped.length < scan.skipped.length
    return {
      id,
      artifact_id: id,
      session_id: this.#session.id,
      exec_id: execId,
      created_at: new Date().toISOString(),
      mount: this.#root,
      complete: !unlisted && skipped.every(({ reason }) => reason === 'symlink'),
      total_bytes: scan.files.reduce((sum, { size }) => sum + size, 0),
      files: scan.files,
      deleted,
      skipped,
    }
  }

  /** Base of file names: the mount, or `/` if there are several. */
  get #root(): string {
    const { mounts } = this.#session
    return mounts.length === 1 ? mounts[0]! : '/'
  }

  async #scanMount(files: ContainerFiles, mount: string, scan: Scan): Promise<void> {
    const options = { maxDepth: limits.artifacts.depth, maxEntries, hidden: true }
    const entries: WalkEntry[] = []
    // Reading files during the walk would stall it.
    for await (const entry of files.walk(mount, options)) entries.push(entry)
    for (const entry of entries) {
      scan.cut ||= entry.cut
      await this.#entry(files, mount, entry, scan)
    }
  }

  async #entry(files: ContainerFiles, mount: string, entry: WalkEntry, scan: Scan): Promise<void> {
    const name = this.#root === '/' ? Buffer.concat([Buffer.from(`${mount.slice(1)}/`), entry.path]) : entry.path
    const key = Buffer.from(name).toString('latin1')
    if (entry.type === 'directory' && entry.unread === null) return
    scan.names.add(key)
    const previous = this.#seen.get(key)
    const state = stateOf(entry)
    if (previous?.state === state) return
    const isOneTooMany = this.#files + scan.files.length >= limits.artifacts.sessionFiles
    const outcome = refusal(entry) ?? (isOneTooMany ? 'file_count' : await this.#storeFile(files, mount, entry))
    if (typeof outcome === 'string') {
      scan.seen.set(key, { state, sha256: null })
      const size = outcome === 'symlink' || outcome === 'vanished' ? {} : { size: entry.size }
      scan.skipped.push({ ...shownName(name), reason: outcome, ...size })
      return
    }
    scan.seen.set(key, { state: stateOf(outcome.facts), sha256: outcome.sha256 })
    // The file was rewritten with the same content.
    if (previous?.sha256 === outcome.sha256) return
    const change = previous?.sha256 ? 'modified' : 'created'
    scan.files.push(fileRecord({ ...outcome, artifactId: scan.id, name, mount: this.#root, change }))
  }

  /** Stores a file, or returns why it is skipped. */
  async #storeFile(files: ContainerFiles, mount: string, entry: WalkEntry): Promise<StoredFile | SkipReason> {
    const { fileBytes, sessionBytes } = limits.artifacts
    if (entry.size > fileBytes) return 'file_too_large'
    const remaining = sessionBytes - this.#bytes
    if (entry.size > remaining) return 'session_quota'
    try {
      const stream = await files.readStream(entry.path, { beneath: mount, length: fileBytes + 1 })
      const blob = await this.#blobs.add(stream.data, Math.min(fileBytes, Math.max(remaining, 0)))
      const after = await stream.factsAfter
      if (!blob.known) this.#bytes += blob.size
      const unstable = after.changedNs !== stream.facts.changedNs || after.size !== blob.size
      return { facts: after, size: blob.size, sha256: blob.sha256, unstable }
    } catch (error) {
      return reasonOf(error, remaining < fileBytes)
    }
  }
}

/** Returns a value that changes with every modification a program can make. */
const stateOf = ({ type, size, changedNs, inode }: FileFacts): string => `${type} ${size} ${changedNs} ${inode}`

/** Returns why an entry that is not a readable file is skipped. */
function refusal({ type, unread }: WalkEntry): SkipReason | undefined {
  if (type === 'symlink') return 'symlink'
  if (type === 'directory') return unread === 'depth' ? 'too_deep' : 'unreadable'
  return type === 'file' ? undefined : 'not_a_file'
}

/** Returns why reading a file has failed. @throws for internal errors, or when the container is gone. */
function reasonOf(error: unknown, quotaWasNear: boolean): SkipReason {
  if (error instanceof TooManyBytes) return quotaWasNear ? 'session_quota' : 'file_too_large'
  // The disk of the engine is full.
  if ((error as NodeJS.ErrnoException).code === 'ENOSPC' && !(error instanceof ContainerError)) return 'session_quota'
  if (!(error instanceof ContainerError)) throw error
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return 'vanished'
  if (error.code === 'ELOOP') return 'symlink'
  return error.code === 'EISDIR' || error.code === 'ENXIO' || error.code === 'EINVAL' ? 'not_a_file' : 'unreadable'
}
