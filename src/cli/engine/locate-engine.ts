/** Chooses the engine for a command: the server in the settings, the local engine, or one inside this process. */
import { resolve } from 'node:path'
import { type Calls, callsOf } from '../../client/calls.ts'
import { overQuickSocket } from '../../client/quick-socket.ts'
import { overHttp, overSocket, type Transport, type WireRequest, type WireResponse } from '../../client/transport.ts'
import { BaxError } from '../../core/errors/errors.ts'
import { engineToCall } from '../../core/state/engine-socket.ts'
import type { EngineState } from '../../core/state/local-files.ts'
import { normaliseUrl } from '../../core/net/urls.ts'
import { version } from '../../core/version.ts'
import { watchedServer, whileResponsive } from './responsive.ts'
import { isUnreachable } from './unreachable.ts'
import type { Context } from '../context.ts'
import { explainSession, type SessionSource } from '../session/chosen-session.ts'
import { sameBrowser, sameProxies } from '../settings.ts'

/** Requirements of a command when no server is configured. */
export type Need =
  /** An engine that outlives the command, started if none runs. */
  | { readonly when: 'start' }
  /** The running engine; without one the command fails with the error of `absent`. */
  | { readonly when: 'running'; readonly absent: (crashed: boolean) => BaxError; readonly anyVersion?: boolean }
  /**
   * Any engine: the running one, or one inside this process that ends with the command. With `sameEngine`, all calls
   * must reach the engine that answered the first one.
   */
  | { readonly when: 'ask'; readonly sameEngine?: boolean }

interface EngineAddress {
  readonly kind: 'server' | 'local' | 'embedded'
  /** URL of the server, `local` or `embedded`; identifies the engine in saved choices. */
  readonly name: string
  readonly transport: Transport
}

export type LocatedEngine = EngineAddress & Calls

type OpenEmbedded = () => Promise<Transport>

/**
 * Returns the engine that a command uses; nothing is opened before the first call. `embedded` replaces the engine
 * inside this process, for a command that needs only a part of it.
 * @throws BaxError `invalid_request` if the server is not a valid URL
 */
export function locateEngine(
  context: Context,
  need: Need,
  embedded: OpenEmbedded = wholeEngine(context),
): LocatedEngine {
  const address = addressOf(context, need, embedded)
  return { ...address, ...callsOf(address.transport, context.manifest.operations) }
}

function addressOf(context: Context, need: Need, embedded: OpenEmbedded): EngineAddress {
  const { settings, io } = context
  if (settings.embedded) return { kind: 'embedded', name: 'embedded', transport: inThisProcess(embedded) }
  if (settings.server === undefined)
    return { kind: 'local', name: 'local', transport: ownTransport(context) ?? localTransport(context, need, embedded) }
  const headers: Record<string, string> = settings.apiKey ? { 'x-api-key': settings.apiKey } : {}
  if (settings.server.startsWith('unix:')) {
    const path = resolve(io.cwd, settings.server.slice('unix:'.length))
    const name = `unix:${path}`
    return { kind: 'server', name, transport: watchedServer(io, name, overSocket(path, headers)) }
  }
  const url = normaliseUrl(settings.server, '--server')
  if (!/^https?:/.test(url)) {
    throw new BaxError('invalid_request', `--server must be an http, https or unix URL, not ${settings.server}`)
  }
  const name = url.replace(/\/$/, '')
  return { kind: 'server', name, transport: watchedServer(io, name, overHttp(url, headers)) }
}

/** Returns the transport of the engine that this process is, if the settings select that one. */
function ownTransport({ settings, io: { host } }: Context): Transport | undefined {
  const own = host.engine
  const isSame = own?.stateDir === settings.stateDir && own.browser === settings.browser && sameProxies(settings, own)
  return isSame ? own.transport : undefined
}

type EngineWork<Result> = (engine: LocatedEngine) => Promise<Result>

/** Calls `work` with the engine that a command needs, and closes the engine afterwards. */
export const withEngine = <Result>(context: Context, need: Need, work: EngineWork<Result>): Promise<Result> =>
  withSession(context, need, undefined, work)

/** Does the same for a session; the source of its name decides the hint of errors about it. */
export async function withSession<Result>(
  context: Context,
  need: Need,
  source: SessionSource | undefined,
  work: EngineWork<Result>,
): Promise<Result> {
  const engine = locateEngine(context, need)
  try {
    return await work(engine)
  } catch (error) {
    throw source ? explainSession(error, source) : error
  } finally {
    await engine.transport.close()
  }
}

/** Returns the name of the engine that the settings select. */
export const engineName = (context: Context): LocatedEngine['name'] => locateEngine(context, { when: 'ask' }).name

const wholeEngine = (context: Context) => async () => (await import('./embedded-engine.ts')).openEmbedded(context)

/** Returns an engine inside this process, loaded at the first call. */
function inThisProcess(open: OpenEmbedded): Transport {
  let opened: Promise<Transport> | undefined
  return {
    send: async (request) => (await (opened ??= open())).send(request),
    async close() {
      await (await opened)?.close()
    },
  }
}

function localTransport(context: Context, need: Need, embedded: OpenEmbedded): Transport {
  let inside: Transport | undefined
  let answered = false
  return {
    async send(request) {
      const stays = need.when === 'ask' && need.sameEngine
      if (inside && stays) return inside.send(request)
      const running = await sendToRunning(context, request, need)
      answered ||= running.response !== undefined
      if (running.response) return running.response
      if (answered && stays)
        throw new BaxError('engine_unreachable', 'the local engine ended before the command was done')
      if (need.when === 'running') throw need.absent(running.crashed)
      if (need.when === 'start') {
        const { withStartedEngine } = await import('./local-engine.ts')
        return withStartedEngine(context, (state) => sendTo(context, state, request))
      }
      inside ??= inThisProcess(embedded)
      return inside.send(request)
    },
    async close() {
      await inside?.close()
    },
  }
}

/** Sends a request to the local engine, if one runs. `crashed`: its state file exists, but nothing listens there. */
async function sendToRunning(context: Context, request: WireRequest, need: Need) {
  const state = engineToCall(context.settings.stateDir, context.io.host.uid)
  if (!state) return { crashed: false }
  const anyVersion = need.when === 'running' && need.anyVersion
  if (state.version !== version && !anyVersion) {
    const { retireOtherVersion } = await import('./local-engine.ts')
    await retireOtherVersion(context, state)
    return { crashed: false }
  }
  if (need.when === 'start' && !sameBrowser(context.settings, state)) {
    const { retireOtherBrowser } = await import('./local-engine.ts')
    await retireOtherBrowser(context, state)
  }
  // Other requests open no pages.
  const opensPages = need.when === 'start' || (need.when === 'ask' && request.method === 'POST')
  if (opensPages && !sameProxies(context.settings, state)) {
    const { retireOtherProxies } = await import('./local-engine.ts')
    await retireOtherProxies(context, state)
  }
  try {
    return { response: await sendTo(context, state, request), crashed: false }
  } catch (error) {
    if (isUnreachable(error)) return { crashed: true }
    throw error
  }
}

const sendTo = ({ io }: Context, state: EngineState, request: WireRequest): Promise<WireResponse> =>
  whileResponsive(io, state, overLocal(state.socket, request).send(request))

/** Returns node:http for streams, which are read as they arrive; the smaller client for everything else. */
const overLocal = (socket: string, { path, headers }: WireRequest): Transport =>
  path.startsWith('/stream/') || headers?.['accept'] ? overSocket(socket) : overQuickSocket(socket)
