/** Reports that something in a set of folders has changed. */
import { EventEmitter, once } from 'node:events'
import { existsSync, type FSWatcher, watch } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { BaxError } from '../../core/errors/errors.ts'
import { systemReason, systemCode } from '../../core/errors/system-errors.ts'

/** Time without further changes after which they are reported: editors write a file in several steps. */
const quietMs = 50

/** Watches folders, not files: many editors replace a file, which ends its watch. */
export class FolderWatcher {
  #watchers: FSWatcher[] = []
  #hasChanged = false
  readonly #changes = new EventEmitter()

  /** Watches these folders instead of the previous ones; of a missing folder, the nearest existing parent. */
  watch(folders: Iterable<string>): void {
    const opened = [...new Set([...folders].map(existingFolder))].map((folder) => this.#open(folder))
    this.#closeAll()
    this.#watchers = opened
  }

  /** Waits for a change since the last one, or until the signal is aborted. */
  async changed(signal: AbortSignal): Promise<void> {
    try {
      if (!this.#hasChanged) await once(this.#changes, 'change', { signal })
      while (this.#hasChanged) {
        this.#hasChanged = false
        await pause(quietMs, undefined, { signal })
      }
    } catch (error) {
      if (!signal.aborted) throw error
    }
  }

  close(): void {
    this.#closeAll()
  }

  #open(folder: string): FSWatcher {
    const report = () => {
      this.#hasChanged = true
      this.#changes.emit('change')
    }
    try {
      // A folder that disappears is an error on some platforms; the next `watch` opens it again.
      return watch(folder, report).on('error', report)
    } catch (error) {
      const isLimit = ['ENOSPC', 'EMFILE'].includes(String(systemCode(error)))
      const reason = isLimit ? 'the limit of watched folders is reached' : systemReason(error)
      throw new BaxError('no_capacity', `cannot watch ${folder}: ${reason}`, {
        ...(isLimit && { hint: 'raise fs.inotify.max_user_instances and fs.inotify.max_user_watches' }),
        cause: error,
      })
    }
  }

  #closeAll(): void {
    for (const watcher of this.#watchers) watcher.close()
    this.#watchers = []
  }
}

function existingFolder(folder: string): string {
  const parent = dirname(folder)
  return existsSync(folder) || parent === folder ? folder : existingFolder(parent)
}
