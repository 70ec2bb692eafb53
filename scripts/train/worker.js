// Trains one model beside the main thread.
import { parentPort, workerData } from 'node:worker_threads'
import { boost } from './boost.js'

const { binned, train, labels, weights, options } = workerData
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker's port has no origin
parentPort.postMessage(boost(binned, train, labels, weights, options))
