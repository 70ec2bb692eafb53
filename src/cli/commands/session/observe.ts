/** `bax observe`: prints the content and controls of a page. */
import { Option } from 'commander'
import { call } from '../../../client/client.ts'
import { BaxError } from '../../../core/errors/errors.ts'
import type { Observation } from '../../../core/shapes/observe.ts'
import { operationNamed } from '../../context.ts'
import { withSession } from '../../engine/locate-engine.ts'
import { parseInvocation, type TerminalCommand } from '../../parse/invocation.ts'
import { print } from '../../io.ts'
import { needOf } from '../../engine/need.ts'
import { diffText, fullText } from '../../output/changes.ts'
import { observationText, writeScreenshot } from '../../output/observation.ts'
import { addOperation, readOperation } from '../../run-operation.ts'
import { withControlNotice } from '../../output/control-notice.ts'

export const command: TerminalCommand = async (invocation) => {
  const operation = operationNamed(invocation.manifest, 'observe')
  const { context, typed } = parseInvocation(invocation, (flags) => {
    addOperation(flags, operation)
    flags.addOption(new Option('-o, --output <file>', 'file for the screenshot'))
  })
  const { io, settings } = context
  const { input, source } = readOperation(context, operation, typed)
  return withSession(context, needOf(operation, input), source, async (engine) => {
    const answer = call(engine.transport, operation.http, input, { signal: io.signal, strict: true })
    const body = await withControlNotice(io, engine.transport, String(input['session_id']), answer)
    // The engine reports a selector without a match with HTTP status 200 and "success": false.
    if ((body as { success: boolean }).success === false) throw BaxError.fromBody(body)
    const observation = body as Observation
    if (settings.json) print(io, JSON.stringify(observation))
    else if (observation.changes) print(io, diffText(observation.changes))
    else print(io, `${observation.full ? `${fullText[observation.full]}\n` : ''}${observationText(observation)}`)
    const file = typed.flags['output'] as string | undefined
    if (observation.screenshot !== undefined && (file !== undefined || !settings.json)) {
      const path = writeScreenshot(io, observation.screenshot, file, new Date())
      if (!settings.json) print(io, `\nscreenshot: ${path}`)
    }
  })
}
