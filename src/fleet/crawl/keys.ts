/** Names in Redis of what belongs to crawls. */
import { keyPrefix } from '../redis/connect.ts'

const prefix = `${keyPrefix}crawl:`

/** IDs of all crawls, by the time of their last commit in milliseconds. */
export const allKey = `${keyPrefix}crawls`
/** IDs of crawls that are queued or running. */
export const runningKey = `${keyPrefix}crawls:running`
/** The same, of one API key. */
export const ownedKey = (owner: string | null): string => `${keyPrefix}crawls:of:${owner ?? ''}`
/** Builds whose queues may exist. */
export const buildsKey = `${keyPrefix}crawls:builds`
/** Exists while a worker of the build need not repair the queues again. */
export const repairedKey = (build: string): string => `${keyPrefix}crawls:repaired:${build}`
/** Channel with the IDs of crawls that have ended, so that workers stop visiting their pages. */
export const endedChannel = `${keyPrefix}crawls:ended`

/** Slots of a host, by the end of their leases. */
export const hostKey = (host: string): string => `${keyPrefix}host:${host}`
/** Time of the next request to a host that demands a delay. */
export const hostNextKey = (host: string): string => `${keyPrefix}host:${host}:next`

/** Hash with the request and the state of a crawl. */
export const metaKey = (id: string): string => prefix + id
/** Part of a log. */
export const chunkKey = (id: string, log: string, chunk: number): string => `${prefix}${id}:${log}:${chunk}`
/** Hash of the visits that are not finished; see `pages/visit-job.ts`. */
export const visitsKey = (id: string): string => `${prefix}${id}:visits`
/** Hash of what is kept about the site itself. */
export const siteKey = (id: string): string => `${prefix}${id}:site`
/** Latest progress, as JSON. */
export const progressKey = (id: string): string => `${prefix}${id}:progress`

/** Channel with `commit`, `cancel` and `end`. */
export const eventsChannel = (id: string): string => `${prefix}${id}:events`
/** Channel with the fields of visits that have ended. */
export const visitedChannel = (id: string): string => `${prefix}${id}:visited`
/** Channel with progress, as JSON. */
export const progressChannel = (id: string): string => `${prefix}${id}:progress`

export const queuePrefix = `${keyPrefix}queue`
/** Queues of a build: workers of different builds do not share jobs. */
export const crawlsQueue = (build: string): string => `crawls-${build}`
export const pagesQueue = (build: string): string => `pages-${build}`
/** Lock of a job of BullMQ, with the token of the worker that has it. */
export const lockKey = (queue: string, jobId: string): string => `${queuePrefix}:${queue}:${jobId}:lock`
/** Hash of a job of BullMQ. */
export const jobKey = (queue: string, jobId: string): string => `${queuePrefix}:${queue}:${jobId}`
