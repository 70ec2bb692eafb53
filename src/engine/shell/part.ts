/** Shell sessions as a part of an engine; neither Docker nor this code is loaded before the first call. */
import type { EngineConfig } from '../../core/config/config.ts'
import type { KeyRing } from '../../core/access/keys.ts'
import type { Shells } from '../../core/shells.ts'
import type { ShellPart } from './shells.ts'

export interface LazyShells {
  readonly shells: Shells
  /** Sessions that live. */
  count(): number
  /** Commands at work in them. */
  running(): number
  close(): Promise<void>
}

/** The same interface, with its implementation loaded at the first call. */
export function shellPart(config: EngineConfig, keys: KeyRing): LazyShells {
  let loading: Promise<ShellPart> | undefined
  let loaded: ShellPart | undefined
  const part = (): Promise<ShellPart> =>
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

type Anything = Record<string, (...given: never[]) => Promise<unknown>>

/** Every method of every part waits until the parts are there. */
function lazily(part: () => Promise<ShellPart>): Shells {
  const area = (name: keyof Shells) =>
    new Proxy({} as Anything, {
      get:
        (_, method: string) =>
        async (...given: never[]) =>
          (((await part()).shells[name] as unknown as Anything)[method] as Anything[string])(...given),
    })
  return {
    sessions: area('sessions'),
    execs: area('execs'),
    files: area('files'),
    artifacts: area('artifacts'),
    images: area('images'),
  } as unknown as Shells
}
