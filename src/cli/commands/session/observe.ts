/** `bax observe`: prints the content and controls of a page. */
import { BaxError } from '../../../core/errors/errors.ts'
import type { Observation } from '../../../core/shapes/observe.ts'
import { print } from '../../io.ts'
import { diffText, fullText } from '../../output/changes.ts'
import { observationText, writeScreenshot } from '../../output/observation.ts'
import { withControlNotice } from '../../output/control-notice.ts'
import { operationCommand, type OperationShape } from '../operation-command.ts'

const shape: OperationShape = {
  operation: 'observe',
  opensSession: true,
  flags: (command) => void command.option('-o, --output <file>', 'file for the screenshot'),
}

export const command = operationCommand(shape, async ({ io, settings, typed, input, transport, ask }) => {
  const file = typed.flags['output'] as string | undefined
  if (file === '-')
    throw new BaxError('invalid_request', '--output must be a file: the observation is on standard output', {
      hint: 'use "bax screenshot -o -" for the screenshot alone',
    })
  const include = input['include'] as readonly string[] | undefined
  // A file is for the screenshot.
  const more = file === undefined ? {} : { include: [...new Set([...(include ?? ['snapshot']), 'screenshot'])] }
  const body = await withControlNotice(io, transport, String(input['session_id']), ask(more))
  // The engine reports a selector without a match with HTTP status 200 and "success": false.
  if ((body as { success: boolean }).success === false) throw BaxError.fromBody(body)
  const observation = body as Observation
  if (settings.json) print(io, JSON.stringify(observation))
  else if (observation.changes) print(io, diffText(observation.changes))
  else print(io, `${observation.full ? `${fullText[observation.full]}\n` : ''}${observationText(observation)}`)
  if (observation.screenshot !== undefined && (file !== undefined || !settings.json)) {
    const path = writeScreenshot(io, observation.screenshot, file)
    if (!settings.json) print(io, `\nscreenshot: ${path}`)
  }
})
