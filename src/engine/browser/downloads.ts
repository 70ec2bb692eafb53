/** Files that pages download, kept in a folder of the session. */
import { mkdir, stat } from 'node:fs/promises'
import { basename, extname, join } from 'node:path'
import type { BrowserContext, Download } from 'playwright'
import type { EventLog } from '../../core/events.ts'
import { limits } from '../../core/limits.ts'
import { shownUrl } from './page-events.ts'
import { tabIdOf } from './tab-ids.ts'

export function keepDownloads(context: BrowserContext, folder: string, events: EventLog): void {
  const shelf: Shelf = { folder, taken: new Set<string>(), events, bytes: 0 }
  context.on('download', (download) => void keep(download, shelf))
}

interface Shelf {
  readonly folder: string
  readonly taken: Set<string>
  readonly events: EventLog
  /** Of all that it holds. */
  bytes: number
}

async function keep(download: Download, shelf: Shelf): Promise<void> {
  const { folder, taken, events } = shelf
  // A page without end would tell of each: one line in the log, for the first of them, is enough.
  if (taken.size > limits.session.downloads) return quietly(download.cancel())
  const filename = freeName(download.suggestedFilename(), taken)
  const facts = { tab_id: tabIdOf(download.page()), filename, url: shownUrl(download.url()) }
  events.emit('download.started', facts)
  const path = join(folder, filename)
  if (taken.size > limits.session.downloads || shelf.bytes > limits.session.downloadBytes) {
    await quietly(download.cancel())
    const error = 'the session has downloaded as much as it may'
    events.emit('download.finished', { ...facts, success: false, error })
    return
  }
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    await download.saveAs(path)
    const { size } = await stat(path)
    shelf.bytes += size
    events.emit('download.finished', { ...facts, success: true, path, bytes: size })
    // Only the copy is needed.
    await quietly(download.delete())
  } catch (error) {
    const why = (await download.failure().catch(() => null)) ?? (error as Error).message.split('\n', 1)[0]!
    events.emit('download.finished', { ...facts, success: false, error: why })
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
