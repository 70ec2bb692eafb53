/** `bax observe`: prints the content and controls of a page. */
import { textFlag } from '../../../lines/typed.ts'
import type { Input } from '../../../client/calls.ts'
import { BaxError } from '../../../core/errors/errors.ts'
import { print } from '../../io.ts'
import { diffText, fullText } from '../../../core/text/changes.ts'
import { observationText } from '../../../core/text/observation.ts'
import { writeScreenshot } from '../../output/write-output.ts'
import { withControlNotice } from '../../output/control-notice.ts'
import { operationCommand, type OperationShape } from '../../operation-command.ts'

const shape = {
  cli: 'observe',
  summary: 'Print the content and controls of a page',
  place: 'engine',
  operation: 'observe',
  opensSession: true,
  flags: (command) => void command.option('-o, --output <file>', 'file for the screenshot'),
} satisfies OperationShape

export const command = operationCommand(shape, async ({ io, settings, typed, input, engine, ask }) => {
  const file = textFlag(typed.flags, 'output')
  if (file === '-')
    throw new BaxError('invalid_request', '--output must be a file: the observation is on standard output', {
      hint: 'use "bax screenshot -o -" for the screenshot alone',
    })
  const include = (input['include'] ?? ['snapshot']) as NonNullable<Input<'observe'>['include']>
  // A file is for the screenshot.
  const more = file === undefined ? {} : { include: [...new Set([...include, 'screenshot' as const])] }
  const observation = await withControlNotice(io, engine, String(input['session_id']), ask(more))
  // The engine reports a selector without a match with HTTP status 200 and "success": false.
  if (!observation.success) throw BaxError.fromBody(observation)
  if (settings.json) print(io, JSON.stringify(observation))
  else if (observation.changes) print(io, diffText(observation.changes))
  else print(io, `${observation.full ? `${fullText[observation.full]}\n` : ''}${observationText(observation)}`)
  if (observation.screenshot !== undefined && (file !== undefined || !settings.json)) {
    const path = writeScreenshot(io, observation.screenshot, file)
    if (!settings.json) print(io, `\nscreenshot: ${path}`)
  }
})
