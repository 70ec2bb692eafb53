/** Sessions of both kinds behind one interface: what works on a session works on a browser of the relay too. */
import type { Sessions } from '../../core/engine.ts'
import type { Call } from '../../core/operation.ts'
import type { CommandBatch } from '../../core/shapes/commands.ts'
import type { ObserveRequest, StepRequest } from '../../core/shapes/observe.ts'
import type { RelayPart } from './part.ts'

/** Ids and names of the engine's own sessions go before those of the relay. */
export function withRelay(sessions: Sessions & { knows(idOrName: string): boolean }, relays: RelayPart): Sessions {
  const isRelayed = (id: string | undefined): id is string =>
    id !== undefined && !sessions.knows(id) && relays.knows(id)
  return {
    create: (input, call) => sessions.create(input, call),
    list: (filter, call) => sessions.list(filter, call),
    get: (id, call) => sessions.get(id, call),
    // The browser is the user's: it and its tabs stay as they are.
    close: (id) => (isRelayed(id) ? relays.stop(id) : sessions.close(id)),
    provision: (id, call) => sessions.provision(id, call),
    cancelProvision: (id) => sessions.cancelProvision(id),
    runCommands: (batch: CommandBatch, call: Call) =>
      isRelayed(batch.session_id) ? relays.execute('run', batch, call) : sessions.runCommands(batch, call),
    observe: (request: ObserveRequest, call: Call) =>
      isRelayed(request.session_id) ? relays.execute('observe', request, call) : sessions.observe(request, call),
    step: (request: StepRequest, call: Call) =>
      isRelayed(request.session_id) ? relays.execute('step', request, call) : sessions.step(request, call),
    openClient: (id, token) => sessions.openClient(id, token),
    follow: (request, call) => sessions.follow(request, call),
  }
}
