/** What a server takes on at once: work that needs pages, and bodies that wait in memory. The rest is refused at once. */
import type { Caller } from '../../core/access/caller.ts'
import { BaxError } from '../../core/errors/errors.ts'
import { limits } from '../../core/limits/limits.ts'
import { Tally } from '../../core/access/counter.ts'

const { partOfKey, retryAfterSecs } = limits.overload

/** An amount of something, of which one key may have a part: none takes all of it from the others. */
class Stock {
  readonly #most: number
  readonly #taken = new Tally<string | null>()

  constructor(most: number) {
    this.#most = most
  }

  /** Where no keys are in use there is one caller, who may have it all. Who shows no key where they are, shares one part. */
  take({ keyId, admin }: Caller, amount: number, what: StockWords): void {
    const part = keyId === null && admin ? this.#most : this.#most * partOfKey
    if (this.#taken.of(keyId) + amount > part && part < this.#most) throw ownFull(what, part)
    if (this.#taken.total + amount > this.#most) throw full(what.full)
    this.#taken.add(keyId, amount)
  }

  give({ keyId }: Caller, amount: number): void {
    this.#taken.add(keyId, -amount)
  }
}

interface StockWords {
  /** Why there is no more of it. */
  readonly full: string
  /** As in "32 scrapes and searches at work". */
  readonly amount: (amount: number) => string
}

/** Places for heavy work. */
export class Places {
  readonly #stock: Stock
  readonly #words: StockWords

  constructor(most: number) {
    this.#stock = new Stock(most)
    this.#words = {
      full: `${most} pages are being worked on already`,
      amount: (amount) => `${amount} scrapes and searches at work`,
    }
  }

  /** Runs the work. @throws BaxError `no_capacity` when all places are taken, `rate_limited` when the caller has its part. */
  async run<T>(caller: Caller, work: () => Promise<T>): Promise<T> {
    this.#stock.take(caller, 1, this.#words)
    try {
      return await work()
    } finally {
      this.#stock.give(caller, 1)
    }
  }
}

/** Memory for bodies of requests, from their first byte until they are answered. */
export class BodyRoom {
  readonly #stock: Stock

  constructor(most: number) {
    this.#stock = new Stock(most)
  }

  /** Room for one body. */
  open(caller: Caller): BodyHold {
    let own = 0
    return {
      add: (bytes) => {
        this.#stock.take(caller, bytes, bodyWords)
        own += bytes
      },
      close: () => {
        this.#stock.give(caller, own)
        own = 0
      },
    }
  }
}

const bodyWords: StockWords = {
  full: 'too many bodies of requests are being read',
  amount: (bytes) => `${bytes / 1024 / 1024} MiB of bodies in memory`,
}

export interface BodyHold {
  /** @throws BaxError `no_capacity` when there is no room for so many more, `rate_limited` when the caller has its part. */
  add(bytes: number): void
  close(): void
}

const hint = 'repeat it after the time in Retry-After'

const full = (why: string): BaxError =>
  new BaxError('no_capacity', `the server has all the work that it can take: ${why}`, { hint, retryAfterSecs })

const ownFull = ({ amount }: StockWords, part: number): BaxError =>
  new BaxError('rate_limited', `one key may have ${amount(part)} at a time`, { hint, retryAfterSecs })
