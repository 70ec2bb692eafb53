/** Worker thread that extracts pages, one at a time. */
import { parentPort } from 'node:worker_threads'
import { type ExtractTask, extractPage } from './extract-page.ts'

parentPort?.on('message', async (task: ExtractTask) => {
  // Unexpected errors end the worker, and reject in the main thread.
  const extracted = await extractPage(task)
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker's port has no origin
  parentPort?.postMessage(extracted)
})
