/** Stores files that pages download in a folder of the session. */
import { mkdir, stat } from 'node:fs/promises'
import { basename, extname, join } from 'node:path'
import type { Download } from 'playwright'
import type { EventLog } from '../../../core/events/events.ts'
import { limits } from '../../../core/limits/limits.ts'
import type { SessionHost } from '../create/opening.ts'
import { shownUrl } from './page-events.ts'
import { tabIdOf } from './tab-ids.ts'

/** Stores the session's downloads, up to limits on their number and their total size. */
export function keepDownloads(host: SessionHost, events: EventLog, maxBytes: number): void {
  const { context, downloads: folder, transfers } = host
  const store: DownloadStore = { folder, maxBytes, names: new Set(), events, bytes: 0, running: new Map(), full: false }
  context.on('download', (download) => void save(download, store))
  transfers.onProgress((guid, bytes) => {
    if (bytes === undefined) return void store.running.delete(guid)
    store.running.set(guid, bytes)
    checkQuota(store)
    if (store.full) for (const each of store.running.keys()) transfers.cancel(each)
  })
}

interface DownloadStore {
  readonly folder: string
  readonly maxBytes: number
  readonly names: Set<string>
  readonly events: EventLog
  /** Size of all completed downloads. */
  bytes: number
  /** Bytes received of running downloads, by ID. */
  readonly running: Map<string, number>
  /** Whether the quota is used up; then running and further downloads are cancelled. */
  full: boolean
}

function checkQuota(store: DownloadStore): void {
  let bytes = store.bytes
  for (const coming of store.running.values()) bytes += coming
  store.full ||= bytes > store.maxBytes
}

const quotaReached = 'the session has reached its download limit'

async function save(download: Download, store: DownloadStore): Promise<void> {
  const { folder, names, events } = store
  // Report only the first download beyond the limit, since a page may start any number.
  if (names.size > limits.session.downloads) return quietly(download.cancel())
  const filename = freeName(download.suggestedFilename(), names)
  const facts = { tab_id: tabIdOf(download.page()), filename, url: shownUrl(download.url()) }
  events.emit('download.started', facts)
  const path = join(folder, filename)
  if (names.size > limits.session.downloads || store.full) {
    await quietly(download.cancel())
    events.emit('download.finished', { ...facts, success: false, error: quotaReached })
    return
  }
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    await download.saveAs(path)
    const { size } = await stat(path)
    store.bytes += size
    checkQuota(store)
    events.emit('download.finished', { ...facts, success: true, path, bytes: size })
    // Playwright's own file is no longer needed.
    await quietly(download.delete())
  } catch (error) {
    const why = (await download.failure().catch(() => null)) ?? (error as Error).message.split('\n', 1)[0]!
    events.emit('download.finished', { ...facts, success: false, error: store.full ? quotaReached : why })
  }
}

/** Ignores failures: the files are removed with the session. */
const quietly = (work: Promise<void>): Promise<void> => work.catch(() => {})

/** Maximum length of file names, which leaves room for a number. */
const nameBytes = 200

/** Returns the suggested name without any path; `report.pdf` becomes `report (2).pdf` if the name exists. */
function freeName(suggested: string, names: Set<string>): string {
  const plain = basename(suggested.replaceAll('\\', '/'))
  // Keep the end, which has the extension. File systems count bytes; drop a truncated character.
  const end = Buffer.from(plain).subarray(-nameBytes).toString().replace(/^\uFFFD+/, '') // prettier-ignore
  const safe = end.replace(/^\.+/, '') || 'download'
  const extension = extname(safe)
  const stem = safe.slice(0, safe.length - extension.length)
  let name = safe
  for (let number = 2; names.has(name); number++) name = `${stem} (${number})${extension}`
  names.add(name)
  return name
}
