/** Names and IDs of the sessions in the local engine. Completion never starts an engine. */
import { type Calls, callsOf } from '../../client/calls.ts'
import { overQuickSocket } from '../../client/quick-socket.ts'
import { engineToCall } from '../../core/state/engine-socket.ts'
import type { Manifest } from '../../operations/manifest.ts'
import type { Io } from '../io.ts'
import { readSettings } from '../settings.ts'

/** A word that completes what is typed. */
export interface Candidate {
  readonly value: string
  readonly description: string
}

/** Timeout for the engine: completion must not wait for a busy one. */
const timeoutMs = 500

const options = () => ({ signal: AbortSignal.timeout(timeoutMs) })

const lists = {
  sessions: async ({ ask }: Calls) =>
    (await ask('listSessions', {}, options())).sessions.map((one) => candidate(one, one.url)),
  shells: async ({ ask }: Calls) =>
    (await ask('listShells', {}, options())).sessions.map((one) => candidate(one, one.image)),
}

export async function liveNames(of: keyof typeof lists, manifest: Manifest, io: Io): Promise<Candidate[]> {
  const { stateDir } = readSettings({}, io)
  try {
    const state = engineToCall(stateDir, io.host.uid)
    if (!state) return []
    return await lists[of](callsOf(overQuickSocket(state.socket), manifest.operations))
  } catch {
    // Without an answer there are no candidates.
    return []
  }
}

const candidate = (
  { name, session_id }: { readonly session_id: string; readonly name?: string | null },
  about: string | null | undefined,
): Candidate => ({ value: name ?? session_id, description: about ?? '' })
