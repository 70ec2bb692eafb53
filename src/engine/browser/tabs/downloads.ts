/** Files that pages download, kept in a folder of the session. */
import { mkdir, stat } from 'node:fs/promises'
import { basename, extname, join } from 'node:path'
import type { Download } from 'playwright'
import type { EventLog } from '../../../core/events/events.ts'
import { limits } from '../../../core/limits/limits.ts'
import type { Ground } from '../create/session-host.ts'
import { shownUrl } from './page-events.ts'
import { tabIdOf } from './tab-ids.ts'

/** Keeps what the session's pages download, until its files or their bytes together are more than they may be. */
export function keepDownloads(ground: Ground, events: EventLog, maxBytes: number): void {
  const { context, downloads: folder, transfers } = ground
  const shelf: Shelf = { folder, maxBytes, taken: new Set(), events, bytes: 0, running: new Map(), full: false }
  context.on('download', (download) => void keep(download, shelf))
  transfers.onProgress((guid, bytes) => {
    if (bytes === undefined) return void shelf.running.delete(guid)
    shelf.running.set(guid, bytes)
    judge(shelf)
    if (shelf.full) for (const each of shelf.running.keys()) transfers.cancel(each)
  })
}

interface Shelf {
  readonly folder: string
  readonly maxBytes: number
  readonly taken: Set<string>
  readonly events: EventLog
  /** Of all that it holds. */
  bytes: number
  /** Bytes of those that have not come to their end. */
  readonly running: Map<string, number>
  /** Once it is, nothing more comes in, and what is on its way is cut. */
  full: boolean
}

function judge(shelf: Shelf): void {
  let bytes = shelf.bytes
  for (const coming of shelf.running.values()) bytes += coming
  shelf.full ||= bytes > shelf.maxBytes
}

const tooMuch = 'the session has downloaded as much as it may'

async function keep(download: Download, shelf: Shelf): Promise<void> {
  const { folder, taken, events } = shelf
  // A page without end would tell of each: one line in the log, for the first of them, is enough.
  if (taken.size > limits.session.downloads) return quietly(download.cancel())
  const filename = freeName(download.suggestedFilename(), taken)
  const facts = { tab_id: tabIdOf(download.page()), filename, url: shownUrl(download.url()) }
  events.emit('download.started', facts)
  const path = join(folder, filename)
  if (taken.size > limits.session.downloads || shelf.full) {
    await quietly(download.cancel())
    events.emit('download.finished', { ...facts, success: false, error: tooMuch })
    return
  }
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    await download.saveAs(path)
    const { size } = await stat(path)
    shelf.bytes += size
    judge(shelf)
    events.emit('download.finished', { ...facts, success: true, path, bytes: size })
    // Only the copy is needed.
    await quietly(download.delete())
  } catch (error) {
    const why = (await download.failure().catch(() => null)) ?? (error as Error).message.split('\n', 1)[0]!
    events.emit('download.finished', { ...facts, success: false, error: shelf.full ? tooMuch : why })
  }
}

/** What goes with its session needs no removing. */
const quietly = (work: Promise<void>): Promise<void> => work.catch(() => {})

/** Room is left for the number of a name that was there before. */
const nameBytes = 200

/** The suggested name without any path in it; `report.pdf` becomes `report (2).pdf` when it was there before. */
function freeName(suggested: string, taken: Set<string>): string {
  const plain = basename(suggested.replaceAll('\\', '/'))
  // Its end says what it is. File systems count bytes, and a character that was cut is none.
  const end = Buffer.from(plain).subarray(-nameBytes).toString().replace(/^\uFFFD+/, '') // prettier-ignore
  const safe = end.replace(/^\.+/, '') || 'download'
  const extension = extname(safe)
  const stem = safe.slice(0, safe.length - extension.length)
  let name = safe
  for (let number = 2; taken.has(name); number++) name = `${stem} (${number})${extension}`
  taken.add(name)
  return name
}
