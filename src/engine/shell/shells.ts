/** Assembles shell sessions from containers, sessions, commands, files, artifacts and images. */
import type { EngineConfig } from '../../core/config/config.ts'
import type { KeyRing } from '../../core/access/keys.ts'
import type { Shells } from '../../core/shells.ts'
import { Artifacts } from './artifacts/artifacts.ts'
import { ArtifactStore } from './artifacts/store.ts'
import type { ShellContainers } from './container.ts'
import { ShellExecs } from './exec/execs.ts'
import { fileOperations } from './files/files.ts'
import { imageOperations } from './image-operations.ts'
import { ShellSessions } from './session/sessions.ts'

export interface OpenShells {
  readonly shells: Shells
  readonly sessions: ShellSessions
  close(): Promise<void>
}

type MakeContainers = (config: EngineConfig) => Promise<ShellContainers>

const dockerContainers: MakeContainers = async (config) => {
  const { createContainers } = await import('./docker/containers.ts')
  return createContainers(config)
}

/** Opens the shell sessions; connects to Docker at the first call that needs a container. */
export async function openShells(
  config: EngineConfig,
  keys: KeyRing,
  make: MakeContainers = dockerContainers,
): Promise<OpenShells> {
  const store = new ArtifactStore(config.stateDir)
  await store.start()
  let opening: Promise<ShellContainers> | undefined
  const containers = (): Promise<ShellContainers> => {
    opening ??= make(config).catch((error: unknown) => {
      // Docker may be started in the meantime.
      opening = undefined
      throw error
    })
    return opening
  }
  const sessions = new ShellSessions({ config, keys, store, containers })
  return {
    sessions,
    shells: {
      sessions,
      execs: new ShellExecs(sessions),
      files: fileOperations((idOrName, caller) => sessions.find(idOrName, caller)),
      artifacts: new Artifacts(store, sessions),
      images: imageOperations(config, containers),
    },
    async close() {
      await sessions.close()
      // A failure was reported by the call that needed containers; there is nothing to close.
      await (await opening?.catch(() => undefined))?.close()
      store.close()
    },
  }
}
