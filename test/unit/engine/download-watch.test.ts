/** Tests that commands are given the downloads that they have started, in whatever order the browser reports. */
import { expect, test } from 'vitest'
import { DownloadWatch } from '../../../src/engine/browser/tabs/download-watch.ts'
import type { ContextTransfers } from '../../../src/engine/browser/pool/transfers.ts'

type OnNavigation = Parameters<ContextTransfers['onNavigation']>[0]

/** Returns a watch and the function that reports navigations to it, as the browser's connection does. */
function startWatch() {
  let report: OnNavigation | undefined
  const watch = new DownloadWatch({
    onProgress: () => {},
    onNavigation: (listener) => (report = listener),
    cancel: () => {},
  })
  return { watch, navigation: report! }
}

const { signal } = new AbortController()

test('an aborted navigation is given the download that the browser reports after it', async () => {
  const { watch, navigation } = startWatch()
  const found = watch.since(watch.mark(), 'aborted', signal)
  // The browser reports the download only after the command has failed.
  navigation('main', 'begun')
  watch.report()
  watch.add('report.pdf', 'http://127.0.0.1/report')({ state: 'completed', size: 11 })
  expect(await found).toEqual([{ name: 'report.pdf', url: 'http://127.0.0.1/report', state: 'completed', size: 11 }])
})

test('an aborted navigation without a download has none', async () => {
  const { watch } = startWatch()
  expect(await watch.since(watch.mark(), 'aborted', signal)).toEqual([])
})

test('a failed command does not wait for downloads', async () => {
  const { watch, navigation } = startWatch()
  const mark = watch.mark()
  navigation('main', 'requested')
  expect(await watch.since(mark, 'none', signal)).toEqual([])
})

test('a download that an earlier command has started is not given to a later one', async () => {
  const { watch, navigation } = startWatch()
  navigation('main', 'begun')
  watch.report()
  watch.add('early.txt', 'http://127.0.0.1/early')({ state: 'completed', size: 1 })
  expect(await watch.since(watch.mark(), 'possible', signal)).toEqual([])
})
