/** Stores files that pages download among the files of the session. */
import { rm, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { Download } from 'playwright'
import { BaxError } from '../../../core/errors/errors.ts'
import type { EventLog } from '../../../core/events/events.ts'
import { limits } from '../../../core/limits/limits.ts'
import type { ApprovalControl } from '../ports/approvals.ts'
import type { SessionHost } from '../ports/session-host.ts'
import type { FileStore } from '../files/file-store.ts'
import { toBaxError } from '../page/playwright-errors.ts'
import { oncePer } from '../../../core/once-per.ts'
import { DownloadWatch } from './download-watch.ts'
import { shownUrl } from './page-events.ts'
import { tabIdOf } from './tab-ids.ts'
import { makeFolders } from '../../../core/state/folders.ts'

/** Stores the session's downloads, up to a limit on their number and the quota of its files. */
export function keepDownloads(
  { context, transfers }: Pick<SessionHost, 'context' | 'transfers'>,
  events: EventLog,
  files: FileStore,
  rules: Pick<DownloadStore, 'showsPaths' | 'approvals'>,
): DownloadWatch {
  const watch = new DownloadWatch(transfers)
  const running = new Set<string>()
  const store: DownloadStore = { files, ...rules, watch, events, started: startedIn(files), full: false }
  context.on('download', (download) => void save(download, store))
  files.onFreed(() => (store.full = false))
  transfers.onProgress((guid, bytes) => {
    files.countRunning(guid, bytes)
    if (bytes === undefined) return void running.delete(guid)
    running.add(guid)
    checkQuota(store)
    if (store.full) for (const each of running) transfers.cancel(each)
  })
  // The browser does not report how downloads of a closed context end.
  context.once('close', () => {
    for (const guid of running) files.countRunning(guid, undefined)
  })
  return watch
}

/** Number of downloads so far into the files of a session: its own ones and those of its clients' contexts. */
const startedIn = oncePer((_files: FileStore) => ({ count: 0 }))

interface DownloadStore {
  readonly files: FileStore
  /** Whether events have the paths of files, which are of no use to the callers of a server. */
  readonly showsPaths: boolean
  /** Set when downloads may wait for a person. */
  readonly approvals?: ApprovalControl | undefined
  readonly watch: DownloadWatch
  readonly events: EventLog
  readonly started: { count: number }
  /** Whether the quota is used up; then running and further downloads are cancelled until a file is deleted. */
  full: boolean
}

function checkQuota(store: DownloadStore): void {
  store.full ||= store.files.exceeds(0)
}

const quotaReached = 'the session has reached its download limit'

async function save(download: Download, store: DownloadStore): Promise<void> {
  const { files, events, watch } = store
  watch.report(download.url())
  const number = ++store.started.count
  // Report only the first download beyond the limit, since a page may start any number.
  if (number > limits.session.downloads + 1) return quietly(download.cancel())
  const filename = files.reserve(safeName(download.suggestedFilename()))
  const facts = { tab_id: tabIdOf(download.page()), filename, url: shownUrl(download.url()) }
  const onEnd = watch.add(filename, facts.url)
  events.emit('download.started', facts)
  const fail = (error: string) => {
    files.release(filename)
    events.emit('download.finished', { ...facts, success: false, error })
    onEnd({ state: 'failed', error })
  }
  if (number > limits.session.downloads || store.full) {
    await quietly(download.cancel())
    return fail(quotaReached)
  }
  const path = join(files.folder, filename)
  try {
    if (store.approvals?.confirms('download')) await approve(store.approvals, download, filename)
    makeFolders(files.folder, 0o700)
    await download.saveAs(path)
    const { size } = await stat(path)
    // A fast download can end before its progress is reported.
    if (files.exceeds(size)) {
      store.full = true
      await Promise.all([rm(path, { force: true }), quietly(download.delete())])
      return fail(quotaReached)
    }
    files.add(filename, { path, size, source: 'download' })
    events.emit('download.finished', { ...facts, success: true, path: store.showsPaths ? path : filename, bytes: size })
    onEnd({ state: 'completed', size })
    // Playwright's own file is no longer needed.
    await quietly(download.delete())
  } catch (error) {
    if (error instanceof BaxError) {
      await Promise.all([quietly(download.cancel()), quietly(download.delete())])
      return fail(error.message)
    }
    const known = await download.failure().catch(() => null)
    fail(store.full ? quotaReached : toBaxError(known === null ? error : new Error(known), 'the download').message)
  }
}

/**
 * Waits for a person. Browsers cannot pause a download: until then its bytes stay
 * in a folder of the browser, which is not part of the session. @throws BaxError as `Approvals.ask`
 */
function approve(approvals: ApprovalControl, download: Download, filename: string): Promise<void> {
  const summary = `${filename} from ${shownUrl(download.url())}`
  return approvals.ask({ kind: 'download', summary, url: shownUrl(download.page().url()) })
}

/** Ignores failures: the files are removed with the session. */
const quietly = (work: Promise<void>): Promise<void> => work.catch(() => {})

/** Maximum length of file names, which leaves room for a number. */
const nameBytes = 200

/** Returns the suggested name without any path. */
function safeName(suggested: string): string {
  const plain = basename(suggested.replaceAll('\\', '/'))
  // Keep the end, which has the extension. File systems count bytes; drop a truncated character.
  const end = Buffer.from(plain)
    .subarray(-nameBytes)
    .toString()
    .replace(/^\uFFFD+/, '')
  return end.replace(/^\.+/, '') || 'download'
}
