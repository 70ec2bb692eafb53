/** A connection to an engine, and what belongs to it. */
import { uncheckedFields } from '../client/calls.ts'
import type { CallOptions } from '../client/client.ts'
import { isEnded, takeLease } from '../client/lease.ts'
import { BaxError } from '../core/errors/errors.ts'
import type { Context } from '../cli/context.ts'
import { openEmbedded } from '../cli/engine/embedded-engine.ts'
import { locateEngine, type LocatedEngine } from '../cli/engine/locate-engine.ts'
import { note } from '../cli/io.ts'
import { createReady } from '../cli/session/create-session.ts'
import { crawlPages, type Own } from './crawl-pages.ts'
import { commandMethods, type Methods, operationMethods, type Target } from './methods.ts'
import { openPage } from './page.ts'
import type { Kind } from './places.ts'

type Fields = Readonly<Record<string, unknown>>
type Handle = AsyncDisposable & { readonly id: string }

/** Returns the connection that `connect` resolves with; nothing is opened before the first call. */
export const openConnection = (context: Context): Methods => new Connection(context).methods()

class Connection {
  readonly #ended = new AbortController()
  /** What ends with the connection. */
  readonly #owned = new Set<AsyncDisposable>()
  readonly #engine: LocatedEngine
  readonly #target: Target
  readonly #context: Context

  constructor(context: Context) {
    this.#context = context
    this.#engine = locateEngine(context, { when: 'start' }, () => openEmbedded(context, { servesSockets: true }))
    this.#target = { context, engine: this.#engine, options: (given) => this.#options(given) }
  }

  methods(): Methods {
    const close = () => this.#close()
    const { sessions, shells, relays } = this.#groups()
    return {
      ...operationMethods(this.#target, 'bax'),
      crawl: (input: Fields, given?: CallOptions) =>
        crawlPages(this.#during(given), this.#engine, uncheckedFields(input), this.#own),
      // These are objects with methods.
      ...({ sessions, shells, relays } as object),
      close,
      [Symbol.asyncDispose]: close,
    }
  }

  #groups() {
    const engine = this.#engine
    const options = (given?: CallOptions) => this.#options(given)
    const session = (id: string, isOwned = false) =>
      this.#handle('session', id, isOwned ? () => engine.ask('closeSession', { session_id: id }) : undefined)
    const shell = (id: string, isOwned = false) =>
      this.#handle('shell', id, isOwned ? () => engine.ask('deleteShell', { session_id: id }) : undefined)
    return {
      sessions: {
        ...operationMethods(this.#target, 'sessions'),
        create: async (input: Fields = {}, given?: CallOptions) => {
          const id = await createReady(this.#during(given), engine, uncheckedFields(input))
          await this.#takeLease('leaseSession', id)
          return session(id, true)
        },
        get: async (session_id: string, given?: CallOptions) =>
          session((await engine.ask('getSession', { session_id }, options(given))).session_id),
      },
      shells: {
        ...operationMethods(this.#target, 'shells'),
        create: async (input: Fields = {}, given?: CallOptions) => {
          const { session_id } = await engine.ask('createShell', uncheckedFields(input), options(given))
          await this.#takeLease('leaseShell', session_id)
          return shell(session_id, true)
        },
        get: async (session_id: string, given?: CallOptions) =>
          shell((await engine.ask('getShell', { session_id }, options(given))).session_id),
      },
      relays: {
        ...operationMethods(this.#target, 'relays'),
        get: async (id: string, given?: CallOptions) =>
          this.#handle('relay', (await engine.ask('getRelay', { id }, options(given))).id),
      },
    }
  }

  /** Returns an object with the methods of its kind; `end` ends what the connection has created. */
  #handle(kind: Kind, id: string, end?: () => Promise<unknown>): Handle {
    let page: ReturnType<typeof openPage> | undefined
    const handle = {
      id,
      ...operationMethods(this.#target, kind, { [kind === 'relay' ? 'id' : 'session_id']: id }),
      ...(kind !== 'shell' && {
        ...commandMethods(this.#target, id),
        page: async () => (await (page ??= openPage(this.#engine, id, this.#ended.signal))).page(),
      }),
      [Symbol.asyncDispose]: async () => {
        release()
        await (await page)?.close()
        await end?.().catch((error: unknown) => {
          if (!(error instanceof BaxError && isEnded(error))) throw error
        })
      },
    }
    const release = this.#own(handle)
    return handle
  }

  readonly #own: Own = (owned) => {
    this.#owned.add(owned)
    return () => void this.#owned.delete(owned)
  }

  #options({ signal, ...given }: CallOptions = {}): CallOptions {
    const signals = [this.#ended.signal, ...(signal ? [signal] : [])]
    return { ...given, strict: true, signal: AbortSignal.any(signals) }
  }

  /** Returns the context of one call, which its signal interrupts. */
  #during(given: CallOptions | undefined): Context {
    const { io, ...context } = this.#context
    return { ...context, io: { ...io, signal: this.#options(given).signal! } }
  }

  /** Makes a session end with this process, even if it is killed. */
  #takeLease(stream: 'leaseSession' | 'leaseShell', session_id: string): Promise<void> {
    const open = () => this.#engine.follow(stream, { session_id }, this.#options())
    return takeLease(open, this.#ended.signal, ({ message }) =>
      note(this.#context.io, `session ${session_id} may outlive this process: ${message}`),
    )
  }

  async #close(): Promise<void> {
    try {
      await Promise.all([...this.#owned].map((owned) => owned[Symbol.asyncDispose]()))
    } finally {
      this.#ended.abort(new BaxError('cancelled', 'the connection was closed'))
      await this.#engine.transport.close()
    }
  }
}
