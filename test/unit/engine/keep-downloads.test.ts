/** Limits of the downloads of a session, which has several contexts when a CDP client creates some. */
import { EventEmitter } from 'node:events'
import { expect, test } from 'vitest'
import { EventLog } from '../../../src/core/events/events.ts'
import type { ContextTransfers } from '../../../src/engine/browser/cdp/transfers.ts'
import { FileStore } from '../../../src/engine/browser/files/file-store.ts'
import { keepDownloads } from '../../../src/engine/browser/tabs/downloads.ts'

function contextOf(files: FileStore) {
  const context = new EventEmitter()
  const cancelled: string[] = []
  let progress: Parameters<ContextTransfers['onProgress']>[0] = () => {}
  const transfers: ContextTransfers = {
    onProgress: (listener) => void (progress = listener),
    onNavigation: () => {},
    cancel: (guid) => void cancelled.push(guid),
  }
  keepDownloads({ context: context as never, transfers }, new EventLog(), files, { showsPaths: false })
  return {
    cancelled,
    progress: (guid: string, bytes: number) => progress(guid, bytes),
    close: () => context.emit('close'),
  }
}

test('running downloads of all contexts share the quota, until their context closes', () => {
  const files = new FileStore('/nowhere', 100)
  const [own, ofClient, later] = [contextOf(files), contextOf(files), contextOf(files)]
  own.progress('a', 60)
  ofClient.progress('b', 40)
  expect([own.cancelled, ofClient.cancelled]).toEqual([[], []])
  ofClient.progress('b', 41)
  expect([own.cancelled, ofClient.cancelled]).toEqual([[], ['b']])
  ofClient.close()
  later.progress('c', 40)
  expect(later.cancelled).toEqual([])
})
