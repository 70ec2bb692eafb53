/** Program of the thread of one sandbox. */
import { parentPort, workerData } from 'node:worker_threads'
import type { CodeTask } from './messages.ts'
import { serveCode } from './sandbox.ts'

await serveCode(parentPort!, workerData as CodeTask)
