/** A thread that extracts the pages it is sent, one after the other. */
import { parentPort } from 'node:worker_threads'
import { type ExtractTask, extractPage } from './extract-page.ts'

parentPort!.on('message', async (task: ExtractTask) => {
  // What is no fault of the page ends the thread, and is heard there.
  const extracted = await extractPage(task)
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker's port has no origin
  parentPort!.postMessage(extracted)
})
