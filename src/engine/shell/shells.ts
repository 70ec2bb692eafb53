/** Assembles shell sessions from containers, sessions, commands, files, artifacts and images. */
import type { EngineConfig } from '../../core/config/config.ts'
import type { KeyRing } from '../../core/access/keys.ts'
import { asBaxError, BaxError } from '../../core/errors/errors.ts'
import type { ShellImageRecord } from '../../core/shapes/shell/images.ts'
import type { Shells } from '../../core/shells.ts'
import { artifactOperations } from './artifacts/artifacts.ts'
import { ArtifactStore } from './artifacts/store.ts'
import type { ShellImage } from './container.ts'
import type { ShellContainers } from './interface.ts'
import { execOperations } from './exec/execs.ts'
import { FrameLog } from './exec/frame-log.ts'
import { fileOperations } from './files/files.ts'
import { ShellSessions } from './session/sessions.ts'

/** Opens the shell sessions; connects to Docker at the first call that needs a container. */
export async function openShells(config: EngineConfig, keys: KeyRing) {
  const store = new ArtifactStore(config.stateDir)
  await store.start()
  let opening: Promise<ShellContainers> | undefined
  const containers = () =>
    (opening ??= import('./docker/containers.ts').then(({ createContainers }) => createContainers(config)))
  const sessions = new ShellSessions({ config, keys, store, containers })
  const shells: Shells = {
    sessions,
    execs: execOperations(sessions, config),
    files: fileOperations((idOrName, caller) => sessions.find(idOrName, caller)),
    artifacts: artifactOperations(store, sessions),
    images: imageOperations(config, containers),
  }
  return {
    sessions,
    shells,
    async close() {
      await sessions.close()
      // A failure was reported by the call that needed containers; there is nothing to close.
      await (await opening?.catch(() => undefined))?.close()
      store.close()
    },
  }
}

/** Lists images, and builds them with a stream of progress. */
function imageOperations(config: EngineConfig, containers: () => Promise<ShellContainers>): Shells['images'] {
  return {
    list: async () => (await (await containers()).images.list()).map(recordOf),
    build: async ({ which }, { signal }) => {
      if (config.home === 'server') {
        throw new BaxError('feature_disabled', 'this server does not build images', {
          hint: 'ask its operator to run "bax shell image build"',
        })
      }
      const { images } = await containers()
      const log = new FrameLog(false)
      const report = (line: string) => log.add('log', { line }, line.length)
      const frames = log.follow(0, signal)
      images.build(which, { report, signal }).then(
        (image) => log.end('built', { image: recordOf(image) }),
        (error: unknown) => {
          const { code, message, hint } = asBaxError(error)
          log.end('error', { code, message, ...(hint && { hint }) })
        },
      )
      return frames
    },
  }
}

const recordOf = ({ name, sizeBytes: size_bytes, createdAt: created_at }: ShellImage): ShellImageRecord => {
  return { name, size_bytes, created_at }
}
