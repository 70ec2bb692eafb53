/** The socket of the local engine, as its clients see it. */
import { lstatSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { BaxError } from '../errors/errors.ts'
import { type EngineState, readEngineState } from './local-files.ts'

/**
 * Returns the state of the engine of a folder; undefined without one. `uid` is absent on systems without users.
 * @throws BaxError `engine_failed` when another user could answer in its place
 */
export function engineToCall(stateDir: string, uid: number | undefined): EngineState | undefined {
  const state = readEngineState(stateDir)
  if (!state || uid === undefined) return state
  const socket = lstatSync(state.socket, { throwIfNoEntry: false })
  // No engine listens: the call reports it.
  if (!socket) return state
  if (socket.uid !== uid) throw untrusted(`${state.socket} belongs to another user`)
  const folder = dirname(state.socket)
  const { mode, uid: owner } = statSync(folder)
  // The owners of the folder, and of a link to it, and its writers could replace the socket. What belongs to root is safe,
  // and root may use folders of others.
  const isForeign = [owner, lstatSync(folder).uid].some((one) => one !== uid && one !== 0 && uid !== 0)
  if (isForeign || mode & 0o022) throw untrusted(`other users can write to ${folder}`)
  return state
}

const untrusted = (why: string) =>
  new BaxError('engine_failed', `the local engine is not trusted: ${why}`, {
    hint: 'remove its folder, or choose another one with --state-dir or BAX_STATE_DIR',
  })
