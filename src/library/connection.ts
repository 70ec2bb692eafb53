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
import { tabsOf } from './tabs.ts'
import { type Kind, kinds } from './places.ts'

type Fields = Readonly<Record<string, unknown>>
type Handle = AsyncDisposable & { readonly id: string }

/** Returns the connection that `connect` resolves with; nothing is opened before the first call. */
export const openConnection = (context: Context): Methods => new Connection(context).methods()

const absent = () => new BaxError('session_closed', 'the local engine has ended, and its sessions with it')

class Connection {
  readonly #ended = new AbortController()
  /** Sessions, shells and streams that are closed with the connection. */
  readonly #owned = new Set<AsyncDisposable>()
  readonly #engine: LocatedEngine
  /** The same engine for what belongs to a session, which must not start another one. */
  readonly #running: LocatedEngine
  readonly #target: Target
  readonly #context: Context

  constructor(context: Context) {
    this.#context = context
    this.#engine = locateEngine(context, { when: 'start' }, () => openEmbedded(context, { servesSockets: true }))
    this.#running = this.#engine.kind === 'local' ? locateEngine(context, { when: 'running', absent }) : this.#engine
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
    return {
      sessions: {
        ...operationMethods(this.#target, 'sessions'),
        create: async (input: Fields = {}, given?: CallOptions) => {
          const id = await createReady(this.#during(given), engine, uncheckedFields(input))
          const session = this.#handle('session', id, () => this.#running.ask('closeSession', { session_id: id }))
          await this.#takeLease('leaseSession', id)
          return session
        },
        get: async (session_id: string, given?: CallOptions) =>
          this.#handle('session', (await engine.ask('getSession', { session_id }, options(given))).session_id),
      },
      shells: {
        ...operationMethods(this.#target, 'shells'),
        create: async (input: Fields = {}, given?: CallOptions) => {
          const { session_id } = await engine.ask('createShell', uncheckedFields(input), options(given))
          const shell = this.#handle('shell', session_id, () => this.#running.ask('deleteShell', { session_id }))
          await this.#takeLease('leaseShell', session_id)
          return shell
        },
        get: async (session_id: string, given?: CallOptions) =>
          this.#handle('shell', (await engine.ask('getShell', { session_id }, options(given))).session_id),
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
    const target = { ...this.#target, engine: this.#running }
    const tabs = tabsOf(this.#running, id, this.#ended.signal)
    const handle = {
      id,
      ...operationMethods(target, kind, { [kinds[kind].id]: id }),
      ...(kind !== 'shell' && { ...commandMethods(target, id), page: () => tabs.page() }),
      [Symbol.asyncDispose]: async () => {
        release()
        await tabs.close()
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
    return () => this.#owned.delete(owned)
  }

  #options({ signal, ...given }: CallOptions = {}): CallOptions {
    // A call would start an engine again.
    this.#ended.signal.throwIfAborted()
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
    const open = () => this.#running.follow(stream, { session_id }, this.#options())
    return takeLease(open, this.#ended.signal, ({ message }) =>
      note(this.#context.io, `session ${session_id} may outlive this process: ${message}`),
    )
  }

  async #close(): Promise<void> {
    const ends = await Promise.allSettled([...this.#owned].map((owned) => owned[Symbol.asyncDispose]()))
    this.#ended.abort(new BaxError('cancelled', 'the connection was closed'))
    await this.#engine.transport.close()
    const failed = ends.find((end) => end.status === 'rejected')
    if (failed) throw failed.reason
  }
}
