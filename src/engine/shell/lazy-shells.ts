/** Wires the shell sessions of the engine: programs in confined containers. Loaded at the first call, like Docker. */
import type { EngineConfig } from '../../core/config/config.ts'
import type { KeyRing } from '../../core/access/keys.ts'
import type { Shells } from '../../core/shells.ts'
import type { openShells } from './shells.ts'

type OpenShells = Awaited<ReturnType<typeof openShells>>

/** Returns the interface; its implementation is loaded at the first call. */
export function lazyShells(config: EngineConfig, keys: KeyRing) {
  let loading: Promise<OpenShells> | undefined
  let loaded: OpenShells | undefined
  const part = (): Promise<OpenShells> =>
    (loading ??= import('./shells.ts').then(async ({ openShells }) => (loaded = await openShells(config, keys))))
  return {
    shells: lazily(part),
    /** Returns the number of live sessions. */
    count: () => loaded?.sessions.count ?? 0,
    /** Returns the number of commands running in them. */
    running: () => loaded?.sessions.running ?? 0,
    endAll: async () => {
      await (await loading)?.sessions.endAll()
    },
    close: async () => {
      await (await loading)?.close()
    },
  }
}

/** Wraps every method so that it waits for the implementation. */
function lazily(part: () => Promise<OpenShells>): Shells {
  const area = <Name extends keyof Shells>(name: Name) =>
    new Proxy({} as Shells[Name], {
      get:
        (_, method) =>
        async (...args: unknown[]) => {
          const target = (await part()).shells[name]
          return Reflect.apply(Reflect.get(target, method) as () => unknown, target, args)
        },
    })
  return {
    sessions: area('sessions'),
    execs: area('execs'),
    files: area('files'),
    artifacts: area('artifacts'),
    images: area('images'),
  }
}
