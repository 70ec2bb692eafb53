/** Files that pages download, kept in a folder of the session. */
import { mkdir, stat } from 'node:fs/promises'
import { basename, extname, join } from 'node:path'
import type { BrowserContext, Download } from 'playwright'
import type { EventLog } from '../../core/events.ts'
import { shownUrl } from './page-events.ts'
import { tabIdOf } from './tab-ids.ts'

export function keepDownloads(context: BrowserContext, folder: string, events: EventLog): void {
  const taken = new Set<string>()
  context.on('download', (download) => void keep(download, { folder, taken, events }))
}

interface Shelf {
  readonly folder: string
  readonly taken: Set<string>
  readonly events: EventLog
}

async function keep(download: Download, { folder, taken, events }: Shelf): Promise<void> {
  const filename = freeName(download.suggestedFilename(), taken)
  const facts = { tab_id: tabIdOf(download.page()), filename, url: shownUrl(download.url()) }
  events.emit('download.started', facts)
  const path = join(folder, filename)
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    await download.saveAs(path)
    events.emit('download.finished', { ...facts, success: true, path, bytes: (await stat(path)).size })
  } catch (error) {
    const why = (await download.failure().catch(() => null)) ?? (error as Error).message.split('\n', 1)[0]!
    events.emit('download.finished', { ...facts, success: false, error: why })
  }
}

/** The suggested name without any path in it; `report.pdf` becomes `report (2).pdf` when it was there before. */
function freeName(suggested: string, taken: Set<string>): string {
  const safe = basename(suggested.replaceAll('\\', '/')).replace(/^\.+/, '').slice(-200) || 'download'
  const extension = extname(safe)
  const stem = safe.slice(0, safe.length - extension.length)
  let name = safe
  for (let number = 2; taken.has(name); number++) name = `${stem} (${number})${extension}`
  taken.add(name)
  return name
}
