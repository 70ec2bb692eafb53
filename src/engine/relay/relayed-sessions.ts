/** Combines browser sessions and relayed browsers behind one interface. */
import type { Call } from '../../core/operation/call.ts'
import type { Caller } from '../../core/access/caller.ts'
import type { Sessions } from '../../core/engine.ts'
import type { CommandBatch } from '../../core/shapes/commands.ts'
import type { ObserveRequest, StepRequest } from '../../core/shapes/observe.ts'
import type { LazyRelays } from './lazy-relays.ts'

/** IDs and names of the engine's own sessions take precedence. */
export function withRelay(
  sessions: Sessions & { knows(idOrName: string, caller: Caller): boolean },
  relays: LazyRelays,
): Sessions {
  const isRelayed = (id: string | undefined, { caller }: Call): id is string =>
    id !== undefined && !sessions.knows(id, caller) && relays.knows(id, caller)
  return {
    create: (input, call) => sessions.create(input, call),
    list: (filter, call) => sessions.list(filter, call),
    get: (id, call) => sessions.get(id, call),
    // The browser belongs to the user: it keeps running with its tabs.
    close: (id, call) => (isRelayed(id, call) ? relays.stop(id, call) : sessions.close(id, call)),
    provision: (id, call) => sessions.provision(id, call),
    cancelProvision: (id, call) => sessions.cancelProvision(id, call),
    runCommands: (batch: CommandBatch, call: Call) =>
      isRelayed(batch.session_id, call) ? relays.execute('run', batch, call) : sessions.runCommands(batch, call),
    observe: (request: ObserveRequest, call: Call) =>
      isRelayed(request.session_id, call) ? relays.execute('observe', request, call) : sessions.observe(request, call),
    step: (request: StepRequest, call: Call) =>
      isRelayed(request.session_id, call) ? relays.execute('step', request, call) : sessions.step(request, call),
    openClient: (id, token, call) => sessions.openClient(id, token, call),
    ticket: (id, call) => sessions.ticket(id, call),
    openLiveView: (id, token, call) => sessions.openLiveView(id, token, call),
    linkLiveView: (id, control, call) => sessions.linkLiveView(id, control, call),
    follow: (request, call) => sessions.follow(request, call),
  }
}
