/** `bax shell image build`: builds an image on this machine and shows the progress. */
import { BaxError } from '../../../core/errors/errors.ts'
import { print } from '../../io.ts'
import { withLog } from '../../output/progress.ts'
import { operationCommand, type OperationShape } from '../../operation-command.ts'

const shape = {
  cli: 'shell image build',
  summary: 'Build the image for shell sessions',
  place: 'own process',
  operation: 'buildShellImage',
} satisfies OperationShape

export const command = operationCommand(shape, async (build) => {
  const { io, settings, input, engine, options } = build
  const image = await withLog(io, 'building the image', async (line) => {
    for await (const frame of engine.follow('buildShellImage', input, options)) {
      if (frame.type === 'built') return frame.image
      if (frame.type === 'error') throw BaxError.fromBody({ ...frame, error: frame.message })
      if (frame.type === 'log') line(frame.line)
    }
    throw new BaxError('engine_unreachable', 'the build was interrupted')
  })
  print(io, settings.json ? JSON.stringify(image) : image.name)
})
