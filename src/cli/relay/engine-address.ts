/** The engine that a connector dials: the named server, or the local engine, which is started when none runs. */
import { resolve } from 'node:path'
import { call } from '../../client/client.ts'
import { BaxError } from '../../core/errors/errors.ts'
import { readEngineState } from '../../core/state/local-home.ts'
import { type Context, operationNamed } from '../context.ts'
import { openHome } from '../engine/locate-engine.ts'

/** `http(s)://…` or `unix:/path`. @throws BaxError `invalid_request`, `engine_unreachable`, `engine_failed`. */
export async function engineAddress(context: Context): Promise<string> {
  const { settings, io, manifest } = context
  if (settings.embedded) {
    throw new BaxError('invalid_request', 'an embedded engine would end with this command, and nobody could reach it', {
      hint: 'leave --embedded out: a local engine is started in the background',
    })
  }
  const { server } = settings
  if (server?.startsWith('unix:')) return `unix:${resolve(io.cwd, server.slice('unix:'.length))}`
  const home = openHome(context, { when: 'start' })
  try {
    if (server !== undefined) return home.name
    // Any call starts it, or finds it.
    await call(home.transport, operationNamed(manifest, 'health').http, {}, { signal: io.signal })
    const state = readEngineState(settings.stateDir)
    if (!state) throw new BaxError('engine_failed', 'the local engine has ended as soon as it was started')
    return `unix:${state.socket}`
  } finally {
    await home.transport.close()
  }
}
