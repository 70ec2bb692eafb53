// Load: its results, the capacity of the machine, and a rate that adapts to the machine.
import { Refused } from './work.js'

/** Results of each kind of work. */
export class Tally {
  /** Milliseconds of each completed unit, by kind. */
  done = new Map()
  refused = new Map()
  /** Number of each error, by its text without numbers and IDs. */
  errors = new Map()
  /** Units that were due while too many were open. */
  dropped = 0

  get total() {
    return [...this.done.values()].reduce((sum, { length }) => sum + length, 0)
  }
  get failed() {
    return [...this.errors.values()].reduce((sum, { count }) => sum + count, 0)
  }
  get rejections() {
    return [...this.refused.values()].reduce((sum, count) => sum + count, 0)
  }

  /** Runs one unit and records its result. */
  async run(work) {
    const start = performance.now()
    const kind = work.pick()
    try {
      await work.unit(kind)
      if (!this.done.has(kind)) this.done.set(kind, [])
      this.done.get(kind).push(performance.now() - start)
    } catch (error) {
      if (error instanceof Refused) this.#refuse(error)
      else this.fail(`${kind}: ${describeError(error)}`)
    }
  }

  fail(text) {
    const key = text.replaceAll(/\b(\w{2,4})_[\w-]{16,}/g, '$1_…').replaceAll(/\d+/g, '0')
    this.errors.set(key, { count: (this.errors.get(key)?.count ?? 0) + 1, example: text })
  }

  #refuse({ status, code, retryAfter }) {
    const key = `${status} ${code}`
    this.refused.set(key, (this.refused.get(key) ?? 0) + 1)
    if (!/^[1-9]\d*$/.test(retryAfter ?? '')) this.fail(`${key} without Retry-After`)
  }
}

/** Returns an error with its cause, because `fetch failed` alone is not specific. */
function describeError(error) {
  const { message, cause } = error
  return cause ? `${message} (${cause.code ?? ''} ${cause.message})` : message
}

/** Measures units per second at a constant concurrency. */
async function throughput(works, concurrency, forSecs) {
  const tally = new Tally()
  const start = performance.now()
  const until = start + forSecs * 1000
  await Promise.all(
    Array.from({ length: concurrency }, async (_, at) => {
      while (performance.now() < until) await tally.run(works[at % works.length])
    }),
  )
  return { rate: tally.total / ((performance.now() - start) / 1000), tally }
}

/**
 * Returns the machine's capacity in units per second, and the lowest concurrency that reaches it. Raises the concurrency
 * until the throughput has hardly grown twice in a row, because a single slow moment proves nothing.
 */
export async function findLevel(works, forSecs, say) {
  let best = { rate: 0, concurrency: 1 }
  const errors = []
  for (let concurrency = 2, worse = 0; concurrency <= 16 && worse < 2; concurrency *= 2) {
    const { rate, tally } = await throughput(works, concurrency, forSecs)
    say(`${concurrency} at a time: ${rate.toFixed(1)} units a second`)
    errors.push(...[...tally.errors.values()].map(({ example }) => example))
    if (rate > best.rate * 1.15) {
      best = { rate, concurrency }
      worse = 0
    } else worse += 1
  }
  return { ...best, errors }
}

/**
 * Starts work at a rate, for a time; resolves once all of it has ended. With `most`, units that are due while so many
 * are open are dropped, and the rate adapts to the recent throughput of the machine, which is shared.
 */
export async function steadily(works, { perSec, forSecs, most = Infinity, share = 1 }, tally) {
  const open = new Set()
  const start = performance.now()
  const windowMs = 10_000
  let rate = perSec
  let due = start
  let window = { from: start, done: 0, dropped: 0 }
  for (let started = 0; performance.now() - start < forSecs * 1000; started += 1) {
    const now = performance.now()
    if (due > now) await new Promise((resolve) => setTimeout(resolve, due - now))
    due += 1000 / rate
    if (open.size < most) {
      const running = tally.run(works[started % works.length]).finally(() => open.delete(running))
      open.add(running)
    } else tally.dropped += 1
    if (performance.now() - window.from < windowMs) continue
    const did = (tally.total - window.done) / ((performance.now() - window.from) / 1000)
    // Keep a reserve of ten percent: a lower result is all that is available now. Otherwise return to the full rate.
    const isOverloaded = (tally.dropped - window.dropped) * 1000 > 0.1 * rate * windowMs
    rate = isOverloaded ? Math.max(1, share * did) : Math.min(perSec, rate * 1.1)
    window = { from: performance.now(), done: tally.total, dropped: tally.dropped }
  }
  await Promise.all(open)
  return tally.total / ((performance.now() - start) / 1000)
}
