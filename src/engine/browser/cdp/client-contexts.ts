/** Browser contexts that the CDP clients of a session create, with the proxy and user agent of the session. */
import type { Page } from 'playwright'
import { BaxError } from '../../../core/errors/errors.ts'
import { limits } from '../../../core/limits/limits.ts'
import type { DrivenContext } from './driver.ts'

/** An open context of a client. */
export interface ClientContext extends Pick<DrivenContext, 'context' | 'contextId' | 'transfers' | 'downloads'> {
  close(): Promise<void>
}

export class ClientContexts {
  readonly #open: () => Promise<ClientContext>
  readonly #contexts = new Set<ClientContext>()
  #opening = 0
  #refused = 0
  #closed = false
  #onOpened: (context: ClientContext) => void = () => {}

  constructor(open: () => Promise<ClientContext>) {
    this.#open = open
  }

  /** Sets the listener for contexts that have opened. */
  onOpened(listener: (context: ClientContext) => void): void {
    this.#onOpened = listener
  }

  /** Opens an empty context. @throws BaxError `rate_limited` when the session has too many. */
  async open(): Promise<ClientContext> {
    const { clientContexts: most } = limits.session
    if (this.#contexts.size + this.#opening >= most)
      throw new BaxError('rate_limited', `the clients of a session may have at most ${most} contexts open`)
    this.#opening += 1
    try {
      return this.#add(await this.#open())
    } finally {
      this.#opening -= 1
    }
  }

  /** Closes all contexts, and those that are still being opened. */
  async close(): Promise<void> {
    this.#closed = true
    await Promise.all([...this.#contexts].map((one) => one.close()))
  }

  async #add(opened: ClientContext): Promise<ClientContext> {
    const { context } = opened
    const one = {
      ...opened,
      close: async () => {
        if (this.#contexts.delete(one)) await opened.close()
      },
    }
    this.#contexts.add(one)
    if (this.#closed) await one.close()
    // Without a listener, Playwright would dismiss the dialogs that belong to the client.
    context.on('dialog', () => {})
    context.on('page', (page) => this.#limitTabs(page))
    this.#onOpened(one)
    return one
  }

  /** Closes a tab beyond the limit, and after repeated attempts the page that opens them. */
  #limitTabs(page: Page): void {
    const count = [...this.#contexts].reduce((sum, { context }) => sum + context.pages().length, 0)
    if (count <= limits.session.tabs) return
    this.#refused += 1
    const tooMany = this.#refused % limits.session.refusedTabs === 0
    const quit = async () => {
      if (tooMany) await (await page.opener())?.close()
      await page.close()
    }
    // Ignore failures: the pages may be closed already.
    void quit().catch(() => {})
  }
}
