/** Wires the relay of the engine: user browsers connected from elsewhere. It is loaded at the first use. */
import type { Call } from '../../core/operation/call.ts'
import type { BrowserSessions } from '../browser/session/sessions.ts'
import { leaseOf } from '../lease.ts'
import { assertConfirms } from '../../core/access/approvals.ts'
import type { Caller } from '../../core/access/caller.ts'
import { isRelayed, type Names, relayedError } from '../../core/access/relayed.ts'
import { BaxError } from '../../core/errors/errors.ts'
import type { EngineConfig } from '../../core/config/config.ts'
import type { Relays, Sessions } from '../../core/engine.ts'
import type { KeyRing } from '../../core/access/keys.ts'
import type { ExecutionKind, Executions } from './commands/executor.ts'
import type { RelayHub } from './hub/hub.ts'
import type { RelaysOptions } from './hub/relays.ts'

export interface LazyRelays extends Relays, Names {
  /** Number of live sessions. */
  count(): number
  /** Whether the ID or name belongs to a live session. */
  knows(idOrName: string, caller: Caller): boolean
  /** Runs commands, observes or steps. @throws BaxError `relay_disconnected`, `browser_lost`, `target_not_found`. */
  execute<K extends ExecutionKind>(
    kind: K,
    request: Executions[K]['request'] & { readonly session_id?: string },
    call: Call,
  ): Promise<Executions[K]['result']>
  endAll(): Promise<void>
  close(): Promise<void>
}

export function lazyRelays(config: EngineConfig, keys: KeyRing, sessions: RelaysOptions['sessions']): LazyRelays {
  let hub: RelayHub | undefined
  const load = async () => {
    const [{ RelayHub }, { EngineRelays }, { RelayTokens }] = await Promise.all([
      import('./hub/hub.ts'),
      import('./hub/relays.ts'),
      import('./hub/tokens.ts'),
    ])
    hub = new RelayHub(keys, config, { sessions })
    const tokens = config.stores?.relayTokens ?? new RelayTokens(config.stateDir, keys)
    return new EngineRelays({ hub, tokens, sessions })
  }
  let loading: ReturnType<typeof load> | undefined
  const relays = () => (loading ??= load())
  return {
    list: async (call) => (await relays()).list(call),
    get: async (id, call) => (await relays()).get(id, call),
    stop: async (id, call) => (await relays()).stop(id, call),
    activate: async (id, targetId, call) => (await relays()).activate(id, targetId, call),
    readEvents: async (id, query, call) => (await relays()).readEvents(id, query, call),
    clearEvents: async (id, call) => (await relays()).clearEvents(id, call),
    followEvents: async (id, query, call) => (await relays()).followEvents(id, query, call),
    cdp: async (request, call) => (await relays()).cdp(request, call),
    tokens: {
      create: async (input, call) => (await relays()).tokens.create(input, call),
      list: async (call) => (await relays()).tokens.list(call),
      revoke: async (tokenId, call) => (await relays()).tokens.revoke(tokenId, call),
    },
    admit: async (call, sessionId) => (await relays()).admit(call, sessionId),
    ownerOf: async (token) => (await relays()).ownerOf(token),
    openClient: async (id, token, call) => (await relays()).openClient(id, token, call),
    endAll: async () => {
      await loading
      hub?.disconnectAll()
    },
    // Nothing to close if it was never loaded.
    close: async () => {
      await loading
      hub?.close()
    },
    count: () => hub?.sessions.length ?? 0,
    hasName: (name, owner) => hub?.hasName(name, owner) ?? false,
    knows: (idOrName, caller) => hub?.knows(idOrName, caller) ?? false,
    execute: async (kind, request, { signal, caller }) => {
      await relays()
      const session = hub!.find(request.session_id!, caller)
      // Relayed browsers do not support confirm.
      assertConfirms([], 'confirm' in request ? request.confirm : [])
      return session.executor().execute(kind, request, signal)
    },
  }
}

const notScripted = () => new BaxError('unsupported', 'commands of relay sessions do not become scripts')
const notRecorded = () => new BaxError('unsupported', 'relay sessions cannot be recorded')

/** Combines browser sessions and relayed browsers. */
export function withRelay(
  sessions: Omit<Sessions, 'lease'> & Pick<BrowserSessions, 'knows' | 'live'>,
  relays: LazyRelays,
): Sessions {
  const toRelay = (id: string | undefined, { caller }: Call): id is string =>
    id !== undefined && isRelayed(id, caller, sessions, relays)
  return {
    create: (input, call) => sessions.create(input, call),
    list: (filter, call) => sessions.list(filter, call),
    get: (id, call) => sessions.get(id, call),
    // The browser belongs to the user: it keeps running with its tabs.
    close: (id, call) => (toRelay(id, call) ? relays.stop(id, call) : sessions.close(id, call)),
    closeOwn: (call) => sessions.closeOwn(call),
    provision: (id, call) => sessions.provision(id, call),
    cancelProvision: (id, call) => sessions.cancelProvision(id, call),
    runCommands: (batch, call) =>
      toRelay(batch.session_id, call) ? relays.execute('run', batch, call) : sessions.runCommands(batch, call),
    observe: (request, call) =>
      toRelay(request.session_id, call) ? relays.execute('observe', request, call) : sessions.observe(request, call),
    step: (request, call) =>
      toRelay(request.session_id, call) ? relays.execute('step', request, call) : sessions.step(request, call),
    openClient: (id, token, call) => sessions.openClient(id, token, call),
    ticket: (id, call) => sessions.ticket(id, call),
    openLiveView: (id, token, call) => sessions.openLiveView(id, token, call),
    record: async (id, action, call) => {
      if (toRelay(id, call)) throw relayedError(id, call.caller, relays, notRecorded())
      return sessions.record(id, action, call)
    },
    script: async (id, request, call) => {
      if (toRelay(id, call)) throw relayedError(id, call.caller, relays, notScripted())
      return sessions.script(id, request, call)
    },
    linkLiveView: (id, control, call) => sessions.linkLiveView(id, control, call),
    follow: (request, call) => sessions.follow(request, call),
    lease: async (id, graceSecs, { caller, signal }) => {
      const session = sessions.live(id, caller)
      return leaseOf(session).hold({ graceSecs, signal, ended: session.ended, end: () => session.endLater('deleted') })
    },
  }
}
