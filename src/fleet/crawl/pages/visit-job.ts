/**
 * Visits of pages as jobs. The hash of a crawl's visits has a field for each visit that is not finished: the ID of its
 * job while it is under way, then its result. A worker writes a result only while the field has the ID of its job and
 * the worker has the lock of the job, so that late results of stalled workers are discarded.
 */
import { BaxError, type ErrorBody } from '../../../core/errors/errors.ts'
import type { ScrapeAnswer } from '../../../core/shapes/scrape.ts'
import type { Validators } from '../../../engine/crawl/earlier.ts'
import type { PageForm } from '../../../engine/crawl/pages/page-source.ts'
import type { Comparison } from '../../../engine/render/decide/difference.ts'
import type { PageKind, PolicyHints } from '../../../engine/render/decide/fetch-or-render.ts'
import type { PageTrace } from '../../../engine/extract/main-content/site/outline.ts'
import { luaScript } from '../../redis/script.ts'

/** `visit`: as the policy demands; `browser`: in a browser in any case; `render`: only the rendered form. */
const kinds = ['visit', 'browser', 'render'] as const
export type VisitKind = (typeof kinds)[number]

export interface VisitJob {
  readonly crawl: string
  readonly kind: VisitKind
  readonly url: string
  /** Rendering hints of the URL's host; only `visit` uses them. */
  readonly hints?: PolicyHints
  /** Time left for the page. */
  readonly leftMs?: number
  /** Whether to compare the rendered form with the fetched one, whose responses may be kept. */
  readonly compare?: true
  /** End of the window of `CrawlSite` that the content depends on. */
  readonly site?: number
}

export interface StoredError extends Pick<ErrorBody, 'error' | 'code' | 'hint' | 'details'> {
  readonly retryAfterSecs?: number
}

/** A form of a page in the requested formats. */
export interface StoredForm extends PageForm {
  readonly hasText?: boolean
  readonly written:
    | {
        readonly final: string
        readonly links: readonly string[]
        readonly answer: ScrapeAnswer
        readonly validators?: Validators
        readonly trace?: PageTrace
      }
    | { readonly error: StoredError }
  /** Comparison of a rendered form with the fetched one; null if they cannot be compared. */
  readonly comparison?: Comparison | null
}

export interface StoredVisit {
  /** Time that counts towards the timeout of the page. */
  readonly spentMs: number
  readonly kind?: PageKind
  readonly page?: StoredForm
  readonly fetched?: StoredForm
  readonly audit?: StoredForm | null
  /** Failure of the visit; `page` is then the fetched form if only rendering failed. */
  readonly failure?: StoredError
}

export const visitField = (kind: VisitKind, url: string): string => `${kind} ${url}`

/** Field of the summary of a window, in the hash of what is kept about the site. */
export const windowField = (end: number): string => `window ${end}`

/** Field of the responses of a fetched page, for comparing it later. */
export const keptField = (url: string): string => `kept ${url}`

/** Prefix of fields that stay when a crawl moves to another build. */
export const actedPrefix = 'acted '

/** Field of a page with actions, which are run once: the attempt that runs them. */
export const actedField = (url: string): string => `${actedPrefix}${url}`

export const fieldsOf = (url: string): string[] => [
  ...kinds.map((kind) => visitField(kind, url)),
  keptField(url),
  actedField(url),
]

export function storedError(error: BaxError): StoredError {
  const { error: message, code, hint, details } = error.toBody()
  const { retryAfterSecs } = error
  return {
    error: message,
    code,
    ...(hint && { hint }),
    ...(details && { details }),
    ...(retryAfterSecs !== undefined && { retryAfterSecs }),
  }
}

export const errorOf = ({ error, code, hint, details, retryAfterSecs }: StoredError): BaxError =>
  new BaxError(code, error, {
    ...(hint && { hint }),
    ...(details && { details }),
    ...(retryAfterSecs !== undefined && { retryAfterSecs }),
  })

/** Value of a field whose visit is under way. */
export const pendingValue = (jobId: string): string => `job ${jobId}`
export const pendingJob = (value: string): string | undefined =>
  value.startsWith('job ') ? value.slice('job '.length) : undefined

/** Requests a visit. KEYS: meta, visits. ARGV: fencing token, field, pending value. Returns 0 for another coordinator. */
export const requestVisit = luaScript<number>(
  'crawl_request_visit',
  2,
  `
  if redis.call('HGET', KEYS[1], 'fence') ~= ARGV[1] then return 0 end
  redis.call('HSET', KEYS[2], ARGV[2], ARGV[3])
  return 1`,
)

/**
 * Stores the result of a visit. KEYS: visits, lock of the job. ARGV: token of the lock, field, pending value, result,
 * channel, field of kept responses, responses (empty: none).
 * Returns 0 for a result that came too late.
 */
export const storeVisit = luaScript<number>(
  'crawl_store_visit',
  2,
  `
  if redis.call('GET', KEYS[2]) ~= ARGV[1] then return 0 end
  if redis.call('HGET', KEYS[1], ARGV[2]) ~= ARGV[3] then return 0 end
  redis.call('HSET', KEYS[1], ARGV[2], ARGV[4])
  if ARGV[7] ~= '' then redis.call('HSET', KEYS[1], ARGV[6], ARGV[7]) end
  redis.call('PUBLISH', ARGV[5], ARGV[2])
  return 1`,
)
