/** Wires the shell sessions of the engine: programs in confined containers. Loaded at the first call, like Docker. */
import type { EngineConfig } from '../../core/config/config.ts'
import type { KeyRing } from '../../core/access/keys.ts'
import type { Shells } from '../../core/shells.ts'
import type { OpenShells } from './shells.ts'

export interface LazyShells {
  readonly shells: Shells
  /** Number of live sessions. */
  count(): number
  /** Number of commands running in them. */
  running(): number
  close(): Promise<void>
}

/** Returns the interface; its implementation is loaded at the first call. */
export function lazyShells(config: EngineConfig, keys: KeyRing): LazyShells {
  let loading: Promise<OpenShells> | undefined
  let loaded: OpenShells | undefined
  const part = (): Promise<OpenShells> =>
    (loading ??= import('./shells.ts').then(async ({ openShells }) => (loaded = await openShells(config, keys))))
  return {
    shells: lazily(part),
    count: () => loaded?.sessions.count ?? 0,
    running: () => loaded?.sessions.running ?? 0,
    close: async () => {
      await (await loading)?.close()
    },
  }
}

type Methods = Record<string, (...args: never[]) => Promise<unknown>>

/** Wraps every method so that it waits for the implementation. */
function lazily(part: () => Promise<OpenShells>): Shells {
  const area = (name: keyof Shells) =>
    new Proxy({} as Methods, {
      get:
        (_, method: string) =>
        async (...args: never[]) =>
          (((await part()).shells[name] as unknown as Methods)[method] as Methods[string])(...args),
    })
  return {
    sessions: area('sessions'),
    execs: area('execs'),
    files: area('files'),
    artifacts: area('artifacts'),
    images: area('images'),
  } as unknown as Shells
}
