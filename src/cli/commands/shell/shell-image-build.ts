/** `bax shell image build`: builds an image on this machine and shows the progress. */
import { follow } from '../../../client/client.ts'
import { BaxError } from '../../../core/errors/errors.ts'
import type { BuildFrame } from '../../../core/shapes/shell/images.ts'
import { print } from '../../io.ts'
import { withLog } from '../../output/progress.ts'
import { operationCommand } from '../operation-command.ts'

export const command = operationCommand('buildShellImage', async (build) => {
  const { io, settings, operation, input, transport, options } = build
  const image = await withLog(io, 'building the image', async (line) => {
    for await (const next of follow(transport, operation.http, input, options)) {
      const frame = next as BuildFrame
      if (frame.type === 'built') return frame.image
      if (frame.type === 'error') throw BaxError.fromBody({ ...frame, error: frame.message })
      if (frame.type === 'log') line(frame.line)
    }
    throw new BaxError('engine_unreachable', 'the build was interrupted')
  })
  print(io, settings.json ? JSON.stringify(image) : image.name)
})
