/** Opens an engine inside this process, behind the same app as other engines. */
import { embedded, type Transport } from '../../client/transport.ts'
import { localFiles } from '../../core/state/local-files.ts'
import type { Context } from '../context.ts'
import { engineConfig } from './engine-config.ts'

/** `servesSockets`: CDP clients can connect to its sessions. */
interface Options {
  readonly servesSockets?: boolean
}

export async function openEmbedded({ settings, io }: Context, { servesSockets }: Options = {}): Promise<Transport> {
  const [{ createApp }, { privateGate }, { createEngine }, { openLogFile }, { listenForSockets }] = await Promise.all([
    import('../../server/app.ts'),
    import('../../server/access/gate.ts'),
    import('../../engine/index.ts'),
    import('../../server/process/log-file.ts'),
    import('../../server/process/socket-port.ts'),
  ])
  const { openStateDir } = await import('../../core/state/state-dir.ts')
  await openStateDir(settings.stateDir)
  const log = openLogFile(localFiles(settings.stateDir).cliLog, 'warn')
  const engine = createEngine({ ...engineConfig(settings, io), home: 'embedded', listensOn: null, log })
  const port = servesSockets ? await listenForSockets(engine) : undefined
  const app = createApp({
    engine,
    gate: privateGate,
    ...(port && { sockets: port.address }),
    onError: (error, request_id) =>
      log('error', error.message, { request_id, cause: error.cause instanceof Error ? error.cause.stack : undefined }),
  })
  return embedded(
    (request) => app.fetch(request),
    async () => {
      await port?.close()
      await engine.close()
    },
  )
}
