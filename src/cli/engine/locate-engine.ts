/** Chooses the engine that a command talks to: the server that is named, the local engine, or one inside this process. */
import { resolve } from 'node:path'
import { overQuickSocket } from '../../client/quick-socket.ts'
import { overHttp, overSocket, type Transport, type WireRequest } from '../../client/transport.ts'
import { BaxError } from '../../core/errors/errors.ts'
import { readEngineState } from '../../core/state/local-home.ts'
import { normaliseUrl } from '../../core/net/urls.ts'
import { version } from '../../core/version.ts'
import { isAbsent } from './unreachable.ts'
import type { Context } from '../context.ts'
import { sameBrowser } from '../settings.ts'

/** What a command needs when no server is named. */
export type Need =
  /** An engine that outlives the command: one is started when none runs. */
  | { readonly when: 'start' }
  /** The engine that runs; without one the command fails with this error. */
  | { readonly when: 'running'; readonly absent: (crashed: boolean) => BaxError; readonly anyVersion?: boolean }
  /**
   * An answer: the engine that runs, or one inside this process for as long as the command. `sameEngine`: later calls are
   * about what the first one began, and no other engine may answer them.
   */
  | { readonly when: 'ask'; readonly sameEngine?: boolean }

export interface Home {
  readonly kind: 'server' | 'local' | 'embedded'
  /** Tells homes apart for what is remembered about them: the server's address, or `local`. */
  readonly name: string
  readonly transport: Transport
}

type OpenEmbedded = () => Promise<Transport>

/**
 * `embedded` opens the engine inside this process, for a command that needs less of one.
 * @throws BaxError `invalid_request` when the named server is no address.
 */
export function openHome(context: Context, need: Need, embedded: OpenEmbedded = wholeEngine(context)): Home {
  const { settings, io } = context
  if (settings.embedded) return { kind: 'embedded', name: 'embedded', transport: inThisProcess(embedded) }
  if (settings.server === undefined)
    return { kind: 'local', name: 'local', transport: localTransport(context, need, embedded) }
  const headers: Record<string, string> = settings.apiKey ? { 'x-api-key': settings.apiKey } : {}
  if (settings.server.startsWith('unix:')) {
    const path = resolve(io.cwd, settings.server.slice('unix:'.length))
    return { kind: 'server', name: `unix:${path}`, transport: overSocket(path, headers) }
  }
  const address = normaliseUrl(settings.server, '--server')
  if (!/^https?:/.test(address)) {
    throw new BaxError('invalid_request', `--server must be an http, https or unix address, not ${settings.server}`)
  }
  return { kind: 'server', name: address.replace(/\/$/, ''), transport: overHttp(address, headers) }
}

/** The name of the home that the settings lead to. */
export const homeName = (context: Context): Home['name'] => openHome(context, { when: 'ask' }).name

const wholeEngine = (context: Context) => async () => (await import('./embedded-engine.ts')).openEmbedded(context)

/** An engine inside this process, loaded at the first call and closed with the command. */
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
        throw new BaxError('engine_unreachable', 'the local engine has ended in the middle of its work')
      if (need.when === 'running') throw need.absent(running.crashed)
      if (need.when === 'start') {
        const { withStartedEngine } = await import('./local-engine.ts')
        return withStartedEngine(context, (socket) => overLocal(socket, request).send(request))
      }
      inside ??= inThisProcess(embedded)
      return inside.send(request)
    },
    async close() {
      await inside?.close()
    },
  }
}

/** The answer of the local engine that runs, if one does. `crashed`: there was one, and it did not end as it should. */
async function sendToRunning(context: Context, request: WireRequest, need: Need) {
  const state = readEngineState(context.settings.stateDir)
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
  try {
    return { response: await overLocal(state.socket, request).send(request), crashed: false }
  } catch (error) {
    if (isAbsent(error)) return { crashed: true }
    throw error
  }
}

/** What streams is read by node:http as it comes; everything else goes the short way. */
const overLocal = (socket: string, { path, headers }: WireRequest): Transport =>
  path.startsWith('/stream/') || headers?.['accept'] ? overSocket(socket) : overQuickSocket(socket)
