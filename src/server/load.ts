/** What a server takes on at once: work that needs pages, and bodies that wait in memory. The rest is refused at once. */
import { BaxError } from '../core/errors.ts'
import { limits } from '../core/limits.ts'

/** Places for heavy work. */
export class Places {
  readonly #most: number
  #taken = 0

  constructor(most: number) {
    this.#most = most
  }

  /** Runs the work. @throws BaxError `no_capacity` when all places are taken. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#taken >= this.#most) throw full(`${this.#most} pages are being worked on already`)
    this.#taken += 1
    try {
      return await work()
    } finally {
      this.#taken -= 1
    }
  }
}

/** Memory for bodies of requests, from their first byte until they are answered. */
export class BodyRoom {
  readonly #most: number
  #bytes = 0

  constructor(most: number) {
    this.#most = most
  }

  /** Room for one body. */
  open(): BodyHold {
    let own = 0
    return {
      add: (bytes) => {
        if (this.#bytes + bytes > this.#most) throw full('too many bodies of requests are being read')
        own += bytes
        this.#bytes += bytes
      },
      close: () => {
        this.#bytes -= own
        own = 0
      },
    }
  }
}

export interface BodyHold {
  /** @throws BaxError `no_capacity` when there is no room for so many more. */
  add(bytes: number): void
  close(): void
}

const full = (why: string): BaxError =>
  new BaxError('no_capacity', `the server has all the work that it can take: ${why}`, {
    hint: 'repeat it after the time in Retry-After',
    retryAfterSecs: limits.overload.retryAfterSecs,
  })
