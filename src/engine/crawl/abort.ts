/** Reasons to stop a crawl early. */
import { BaxError } from '../../core/errors/errors.ts'

/** Abort reason of a crawl; `interrupted` leaves it resumable. */
export class CrawlAbort extends Error {
  readonly kind: 'cancelled' | 'out_of_time' | 'interrupted' | 'failed'
  declare readonly cause?: BaxError

  /** `cause` is the error of a crawl that failed. */
  constructor(kind: CrawlAbort['kind'], cause?: BaxError) {
    super(kind, { cause })
    this.kind = kind
  }
}

/** Returns the error of a crawl that exceeded its time limit. */
export const outOfTime = (secs: number) => {
  const { message: error, code } = new BaxError('timeout', `the crawl took longer than ${secs} s`)
  return { error, code }
}
