/** Tests that commands are given the downloads that they have started, in whatever order the browser reports. */
import { expect, test, vi } from 'vitest'
import { DownloadWatch } from '../../../src/engine/browser/tabs/download-watch.ts'
import type { ContextTransfers } from '../../../src/engine/browser/cdp/transfers.ts'

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
  navigation('main', 'begun', { url: 'http://127.0.0.1/report', suggestedFilename: 'report.pdf' })
  watch.report('http://127.0.0.1/report')
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
  navigation('main', 'begun', { url: 'http://127.0.0.1/early', suggestedFilename: 'early.txt' })
  watch.report('http://127.0.0.1/early')
  watch.add('early.txt', 'http://127.0.0.1/early')({ state: 'completed', size: 1 })
  expect(await watch.since(watch.mark(), 'possible', signal)).toEqual([])
})

test('a download that is never stored is reported as failed to the commands that wait for it', async () => {
  vi.useFakeTimers()
  try {
    const { watch, navigation } = startWatch()
    const found = watch.since(watch.mark(), 'possible', signal)
    navigation('tab', 'begun', { url: 'data:text/csv,a', suggestedFilename: 'a.csv' })
    const again = watch.since(watch.mark(), 'possible', signal)
    await vi.runAllTimersAsync()
    const lost = { name: 'a.csv', url: 'data:text/csv,a', state: 'failed', error: 'the browser did not store the file' }
    expect(await found).toEqual([lost])
    expect(await again).toEqual([lost])
    expect(await watch.since(watch.mark(), 'possible', signal)).toEqual([])
  } finally {
    vi.useRealTimers()
  }
})
