/** Ends of a crawl before its time. */
import { BaxError } from '../../core/errors/errors.ts'

/** Why a crawl is to end before its time; `interrupted` leaves it as it is, to be gone on with. */
export class Ending extends Error {
  readonly kind: 'cancelled' | 'out_of_time' | 'interrupted'

  constructor(kind: Ending['kind']) {
    super(kind)
    this.kind = kind
  }
}

/** What is said of a crawl whose time is over. */
export const outOfTime = (secs: number) => {
  const { message: error, code } = new BaxError('timeout', `the crawl took longer than ${secs} s`)
  return { error, code }
}
