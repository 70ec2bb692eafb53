/** Download events for a CDP client. The engine stores the files: a client cannot change the browser's own settings. */
import { linkSync } from 'node:fs'
import { copyFile, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { deniedCode } from '../../cdp/calls.ts'
import type { CdpMessage } from '../../cdp/router.ts'
import type { ContextDownloads } from './download-events.ts'
import { makeFolders } from '../../../core/state/folders.ts'

export interface DownloadRules {
  /** Whether clients may write to this machine; then completed files are copied to the folder that they name. */
  readonly files: boolean
  /** Folder where the browser stores downloads by ID. */
  readonly artifacts: string
}

interface Behavior {
  readonly behavior: string
  readonly downloadPath?: string
}

export class ClientDownloads {
  readonly #rules: DownloadRules
  readonly #deliver: (event: CdpMessage) => void
  readonly #behaviors = new Map<string, Behavior>()
  readonly #unfollow = new Map<string, () => void>()
  /** Browser-level sessions that receive the events; undefined is the client's own one. */
  readonly #receivers = new Set<string | undefined>()
  readonly #names = new Map<string, string>()

  constructor(rules: DownloadRules, deliver: (event: CdpMessage) => void) {
    this.#rules = rules
    this.#deliver = deliver
  }

  /** Reports the downloads of a context from now on. */
  follow(contextId: string, downloads: ContextDownloads): void {
    const off = downloads.onEvent((event) => void this.#onEvent(contextId, downloads, event))
    this.#unfollow.set(contextId, off)
  }

  unfollow(contextId: string): void {
    this.#unfollow.get(contextId)?.()
    this.#unfollow.delete(contextId)
    this.#behaviors.delete(contextId)
  }

  /** Handles `setDownloadBehavior` of a client; returns the error of a behavior that is not supported. */
  configure(contextId: string, params: Record<string, unknown>, sessionId: string | undefined): CdpMessage['error'] {
    const { behavior, downloadPath, eventsEnabled } = params as Partial<Behavior> & { eventsEnabled?: boolean }
    // Playwright always names a folder of its own machine, with `allowAndName`.
    if (behavior === 'allow' && downloadPath !== undefined && !this.#rules.files) return ownFolder
    this.#behaviors.set(contextId, { behavior: String(behavior), ...(downloadPath && { downloadPath }) })
    if (eventsEnabled === true) this.#receivers.add(sessionId)
    else this.#receivers.delete(sessionId)
    return undefined
  }

  /** Removes a browser-level session that has ended. */
  forget(sessionId: string): void {
    this.#receivers.delete(sessionId)
  }

  close(): void {
    for (const contextId of this.#unfollow.keys()) this.unfollow(contextId)
  }

  async #onEvent(contextId: string, downloads: ContextDownloads, { method, params = {} }: CdpMessage): Promise<void> {
    const { guid, state, suggestedFilename } = params as Record<string, string>
    if (method === 'Browser.downloadWillBegin') {
      this.#names.set(guid!, suggestedFilename!)
      if (this.#behaviors.get(contextId)?.behavior === 'deny') downloads.cancel(guid!)
    }
    const { filePath: _, ...shown } = params
    const changed = state === 'completed' ? await this.#store(contextId, guid!) : {}
    if (state === 'completed' || state === 'canceled') this.#names.delete(guid!)
    for (const sessionId of this.#receivers)
      this.#deliver({
        method: method!,
        params: { ...shown, ...changed },
        ...(sessionId !== undefined && { sessionId }),
      })
  }

  /** Copies a completed file to the folder that the client named, if any; returns what changes in the event. */
  async #store(contextId: string, guid: string): Promise<{ filePath?: string; state?: string }> {
    const { behavior, downloadPath } = this.#behaviors.get(contextId) ?? {}
    if (!this.#rules.files || downloadPath === undefined || !behavior?.startsWith('allow')) return {}
    const name = behavior === 'allow' ? basename(this.#names.get(guid) ?? guid) : guid
    const target = join(downloadPath, name)
    const held = join(this.#rules.artifacts, `${guid}.client`)
    try {
      // At once: the engine deletes its file as soon as it has stored it in the session's folder.
      linkSync(join(this.#rules.artifacts, guid), held)
      makeFolders(dirname(target))
      await copyFile(held, target)
      return { filePath: target }
    } catch {
      // The folder cannot be written: without its file, the download has failed for the client.
      return { state: 'canceled' }
    } finally {
      await rm(held, { force: true })
    }
  }
}

const ownFolder = {
  code: deniedCode,
  message:
    'setDownloadBehavior accesses files of the machine that runs the browser: downloads are stored in the files of the session',
}
