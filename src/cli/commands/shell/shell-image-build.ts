/** `bax shell image build`: makes an image on this machine, and tells how it goes. */
import { follow } from '../../../client/client.ts'
import { BaxError } from '../../../core/errors/errors.ts'
import type { BuildFrame } from '../../../core/shapes/shell/images.ts'
import { operationNamed } from '../../context.ts'
import { openHome } from '../../engine/locate-engine.ts'
import { begin, type TerminalCommand } from '../../parse/invocation.ts'
import { note, print } from '../../io.ts'
import { type LogProgress, startLog } from '../../output/progress.ts'
import { addOperation, readOperation } from '../../run-operation.ts'

export const command: TerminalCommand = {
  async run(invocation) {
    const operation = operationNamed(invocation.manifest, 'buildShellImage')
    const { context, typed } = begin(invocation, (command) => addOperation(command, operation))
    const { io, settings } = context
    const { input } = readOperation(context, operation, typed)
    const home = openHome(context, { when: 'ask' })
    const log = await startLog(io, 'building the image')
    try {
      for await (const frame of follow(home.transport, operation.http, input, { signal: io.signal, strict: true })) {
        const image = built(frame as BuildFrame, log)
        if (!image) continue
        log.stop()
        print(io, settings.json ? JSON.stringify(image) : image.name)
        return 0
      }
      throw new BaxError('engine_unreachable', 'the build broke off')
    } catch (error) {
      log.stop()
      for (const line of log.last()) note(io, line)
      throw error
    } finally {
      log.stop()
      await home.transport.close()
    }
  },
}

/** The image, when this is the end. @throws BaxError when the build has failed. */
function built(frame: BuildFrame, log: LogProgress) {
  if (frame.type === 'built') return frame.image
  if (frame.type === 'error') throw BaxError.fromBody({ ...frame, error: frame.message })
  if (frame.type === 'log') log.line(frame.line)
  return undefined
}
