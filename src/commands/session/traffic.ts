/** Requests of a page during a navigation. */
import type { Page, Request, Response } from 'playwright'
import { BaxError } from '../../core/errors/errors.ts'
import { isForDocument } from '../wait/navigation-watch.ts'
import { waitsFor } from '../wait/page-text.ts'

const mostListed = 20

export class Traffic {
  readonly #page: Page
  readonly #open = new Set<Request>()
  readonly #documents: Response[] = []
  readonly #onRequest = (request: Request) => void this.#open.add(request)
  readonly #onEnd = (request: Request) => void this.#open.delete(request)
  readonly #onResponse = (response: Response) => {
    if (isForDocument(this.#page, response.request())) this.#documents.push(response)
  }

  constructor(page: Page) {
    this.#page = page
    page.on('request', this.#onRequest).on('response', this.#onResponse)
    page.on('requestfinished', this.#onEnd).on('requestfailed', this.#onEnd)
  }

  end(): void {
    this.#page.off('request', this.#onRequest).off('response', this.#onResponse)
    this.#page.off('requestfinished', this.#onEnd).off('requestfailed', this.#onEnd)
  }

  /** The response that the page shows; undefined if there is none yet. */
  get document(): Response | undefined {
    return this.#documents.findLast((response) => {
      const request = response.request()
      return request.failure() === null && request.redirectedTo() === null
    })
  }

  /** Returns the error of a page that has not loaded in time, with what it waits for. */
  late(ms: number, cause: Error): BaxError {
    const open = [...this.#open].map((request) => request.url()).filter((url) => !url.startsWith('data:'))
    const isShown = this.document !== undefined
    const what = isShown ? 'did not load' : 'did not answer'
    return new BaxError('timeout', `the page ${what} within ${ms} ms${waitsFor(open)}`, {
      details: { url: this.#page.url(), open: open.slice(-mostListed) },
      ...(isShown && { hint: 'the page can be used as far as it has loaded' }),
      cause,
    })
  }
}
