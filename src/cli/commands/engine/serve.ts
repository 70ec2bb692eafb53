/** `bax serve`: serves an engine over HTTP until a signal. */
import type { EngineConfig } from '../../../core/config/config.ts'
import { BaxError } from '../../../core/errors/errors.ts'
import type { OpenMcp } from '../../../server/mcp.ts'
import { allowancesOf } from '../../../core/access/quota.ts'
import { openStateDir } from '../../../core/state/state-dir.ts'
import { engineConfig } from '../../engine/engine-config.ts'
import { serviceExit } from '../../output/errors.ts'
import { addParam } from '../../../lines/flags.ts'
import { parseInvocation, type TerminalCommand } from '../../parse/invocation.ts'
import { fleetAccess } from '../../serve/fleet.ts'
import { assertGuarded, needsFleet } from '../../serve/guarded.ts'
import { readAllowance, serveParams } from '../../serve/params.ts'
import { readScaling } from '../../serve/scaler-params.ts'
import { bareHost, openServerLog, portNumber, readShared, urlHost } from '../../serve/read-params.ts'
import { readParams } from '../../../lines/typed.ts'
import { parseUrl } from '../../../core/net/parse-url.ts'

export const command: TerminalCommand = {
  cli: 'serve',
  summary: 'Serve the API over HTTP',
  example: [
    'bax serve',
    'bax serve --port 0 --log-level warn',
    'bax serve --host 0.0.0.0 --metrics 127.0.0.1:9464',
    'bax serve --fleet redis://10.0.0.5:6379 --secret-file fleet.secret',
  ],
  place: 'own process',
  async run(invocation) {
    const { context, typed } = parseInvocation(invocation, (command) => {
      for (const param of Object.values(serveParams)) addParam(command, param)
    })
    const { io, settings } = context
    const flags = readParams(serveParams, typed.flags, io.cwd)
    const address = { host: bareHost(flags.host), port: portNumber(flags.port, '--port') }
    const { metrics, drainMs, ...shared } = readShared(flags, io)
    const allowances = allowancesOf(readAllowance(flags))
    const fleet = fleetAccess({ url: flags.fleet, secretFile: flags.secretFile, caFile: flags.fleetCa }, io)
    const scaling = readScaling(flags, fleet !== undefined)
    const needsKeys = fleet !== undefined && flags.keys
    if (!fleet && !flags.keys) throw needsFleet()
    await openStateDir(settings.stateDir)
    const [{ serve }, { loopbackHosts }, { guardFolder }, { createEngine }] = await Promise.all([
      import('../../../server/process/serve.ts'),
      import('../../../server/access/gate.ts'),
      import('../../../server/process/folder-checks.ts'),
      import('../../../engine/index.ts'),
    ])
    const log = await openServerLog(flags, io)
    const config: EngineConfig = {
      ...engineConfig(settings, io),
      ...shared,
      writeAnywhere: false,
      home: 'server',
      allowances,
      log,
      listensOn: `http://${urlHost(address.host)}:${address.port}`,
    }
    const gateway =
      fleet && (await (await import('../../serve/gateway.ts')).openGateway(fleet, { config, allowances, scaling, io }))
    const engine = gateway?.engine ?? createEngine(config)
    const named = (flags.allowHost ?? []).map((name) => name.toLowerCase())
    const folder = guardFolder(settings.stateDir, log)
    const gate = {
      checkReady: folder.check,
      hosts: new Set([...loopbackHosts, ...named, urlHost(address.host)]),
      origins: originsOf(flags.allowOrigin ?? []),
      keys: engine.keys,
    }
    try {
      await assertGuarded(address.host, engine.keys, needsKeys)
      const { signal, host } = io
      const more = {
        ...(metrics && { metrics }),
        ...(host.faults && { faults: host.faults }),
        ...(gateway && { forwarder: gateway.forwarder, stores: gateway.stores }),
      }
      await serve({ engine, gate, allowances, address, log, drainMs, signal, openMcp, ...more })
    } finally {
      folder.stop()
      await engine.close()
      await gateway?.close()
    }
    return serviceExit(io)
  },
}

const openMcp: OpenMcp = async (parts) => (await import('../../../mcp/http.ts')).openEndpoint(parts)

/** Parses origins. @throws BaxError `invalid_request` for other values, such as a URL with a path */
function originsOf(texts: readonly string[]): ReadonlySet<string> {
  return new Set(
    texts.map((text) => {
      const url = parseUrl(text)
      if (
        url &&
        url.origin !== 'null' &&
        /^https?:$/.test(url.protocol) &&
        text.replace(/\/$/, '').toLowerCase() === url.origin
      )
        return url.origin
      throw new BaxError('invalid_request', `--allow-origin must be an origin, not ${JSON.stringify(text)}`, {
        hint: 'pass only scheme, host and port: --allow-origin https://app.example.com',
      })
    }),
  )
}
