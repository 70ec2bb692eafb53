/** `bax serve`: an engine behind HTTP on a loopback address, until it is told to end. */
import type { EngineConfig } from '../../core/config.ts'
import { BaxError, exits } from '../../core/errors.ts'
import { limits } from '../../core/limits.ts'
import type { Param } from '../../core/params.ts'
import { openStateDir } from '../../core/state-dir.ts'
import { engineConfig } from '../engine-config.ts'
import { interruptedExit } from '../errors.ts'
import { addParam } from '../flags.ts'
import { flagValue } from '../values.ts'
import { begin, type TerminalCommand } from '../invocation.ts'
import { type Io, note } from '../io.ts'

const host: Param = {
  name: 'host',
  type: 'string',
  required: false,
  description: 'loopback address to listen on',
  default: '127.0.0.1',
}
const port: Param = {
  name: 'port',
  type: 'integer',
  required: false,
  description: 'port; 0 takes a free one',
  default: 4100,
}
const allowHost: Param = {
  name: 'allow_host',
  type: 'string[]',
  required: false,
  description: 'further host names that requests may be addressed to',
}

export const command: TerminalCommand = {
  async run(invocation) {
    const { context, typed } = begin(invocation, (command) => {
      for (const param of [host, port, allowHost]) addParam(command, param)
    })
    const { io, settings } = context
    const read = (param: Param) => flagValue(param, typed.flags, io.cwd) ?? param.default
    const address = { host: loopbackOnly(read(host) as string), port: portNumber(read(port) as number) }
    await openStateDir(settings.stateDir)
    const [{ createApp }, { loopbackHosts }, { listen }, { createEngine }] = await Promise.all([
      import('../../server/app.ts'),
      import('../../server/gate.ts'),
      import('../../server/listen.ts'),
      import('../../engine/index.ts'),
    ])
    const log = logTo(io)
    const config = { ...engineConfig(settings, io), writeAnywhere: false, home: 'server' as const, log }
    const engine = createEngine({ ...config, listensOn: `http://${address.host}:${address.port}` })
    const named = ((read(allowHost) as string[] | undefined) ?? []).map((name) => name.toLowerCase())
    const hosts = new Set([...loopbackHosts, ...named, spelled(address.host)])
    const gate = { hosts, origins: new Set<string>(), keys: engine.keys }
    const app = createApp({
      engine,
      gate,
      sockets: 'here',
      onFault: (error, request_id) => log('error', error.message, { request_id, cause: String(error.cause) }),
    })
    try {
      const listener = await listen(app, address, { engine, gate, own: false })
      note(io, `bax is listening on ${listener.address}`)
      await new Promise<void>((resolve) => {
        if (io.signal.aborted) resolve()
        io.signal.addEventListener('abort', () => resolve(), { once: true })
      })
      await listener.close(limits.engine.stopGraceMs)
    } finally {
      await engine.close()
    }
    return io.signal.reason === 'SIGTERM' ? exits.done : interruptedExit(io)
  },
}

function loopbackOnly(address: string): string {
  const bare = address.replace(/^\[|\]$/g, '').toLowerCase()
  if (bare === 'localhost' || bare === '::1' || /^127(\.\d{1,3}){3}$/.test(bare)) return bare
  throw new BaxError('invalid_request', `without keys bax serves loopback addresses only, not ${address}`, {
    hint: 'leave --host out, and reach it from elsewhere through a tunnel, for example ssh -L',
  })
}

function portNumber(port: number): number {
  if (port >= 0 && port <= 65_535) return port
  throw new BaxError('invalid_request', `--port must be 0 to 65535, not ${port}`)
}

const spelled = (host: string) => (host.includes(':') ? `[${host}]` : host)

const logTo =
  (io: Io): EngineConfig['log'] =>
  (level, message, facts) => {
    if (level === 'warn' || level === 'error')
      note(io, `${level}: ${message}${facts ? ` ${JSON.stringify(facts)}` : ''}`)
  }
