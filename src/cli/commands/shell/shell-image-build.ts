/** `bax shell image build`: builds an image on this machine and shows the progress. */
import { follow } from '../../../client/client.ts'
import { BaxError } from '../../../core/errors/errors.ts'
import type { BuildFrame } from '../../../core/shapes/shell/images.ts'
import { operationNamed } from '../../context.ts'
import { withEngine } from '../../engine/locate-engine.ts'
import { parseInvocation, type TerminalCommand } from '../../parse/invocation.ts'
import { note, print } from '../../io.ts'
import { type LogProgress, startLog } from '../../output/progress.ts'
import { addOperation, readOperation } from '../../run-operation.ts'

export const command: TerminalCommand = async (invocation) => {
  const operation = operationNamed(invocation.manifest, 'buildShellImage')
  const { context, typed } = parseInvocation(invocation, (command) => addOperation(command, operation))
  const { io, settings } = context
  const { input } = readOperation(context, operation, typed)
  const log = await startLog(io, 'building the image')
  return withEngine(context, { when: 'ask' }, async ({ transport }) => {
    for await (const frame of follow(transport, operation.http, input, { signal: io.signal, strict: true })) {
      const image = built(frame as BuildFrame, log)
      if (!image) continue
      log.stop()
      print(io, settings.json ? JSON.stringify(image) : image.name)
      return
    }
    throw new BaxError('engine_unreachable', 'the build was interrupted')
  }).catch((error: unknown) => {
    log.stop()
    for (const line of log.last()) note(io, line)
    throw error
  })
}

/** Returns the image after the last frame. @throws BaxError if the build failed */
function built(frame: BuildFrame, log: LogProgress) {
  if (frame.type === 'built') return frame.image
  if (frame.type === 'error') throw BaxError.fromBody({ ...frame, error: frame.message })
  if (frame.type === 'log') log.line(frame.line)
  return undefined
}
