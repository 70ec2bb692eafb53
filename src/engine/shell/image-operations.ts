/** Image operations: lists images, and builds them with a stream of progress. */
import type { EngineConfig } from '../../core/config/config.ts'
import { asBaxError, BaxError } from '../../core/errors/errors.ts'
import type { ShellImageRecord } from '../../core/shapes/shell/images.ts'
import type { Shells } from '../../core/shells.ts'
import type { ShellContainers, ShellImage } from './container.ts'
import { FrameLog } from './exec/frame-log.ts'

export function imageOperations(config: EngineConfig, containers: () => Promise<ShellContainers>): Shells['images'] {
  return {
    list: async () => (await (await containers()).images.list()).map(recordOf),
    build: async ({ which }, { signal }) => {
      if (config.home === 'server') {
        throw new BaxError('feature_disabled', 'this server does not build images', {
          hint: 'ask its operator to run `bax shell image build`',
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
