/** `bax observe`: what the page shows and offers, as text. */
import { Option } from 'commander'
import { call } from '../../../client/client.ts'
import { BaxError, exits } from '../../../core/errors/errors.ts'
import type { Observation } from '../../../core/shapes/observe.ts'
import { explainSession } from '../../session/chosen-session.ts'
import { operationNamed } from '../../context.ts'
import { openHome } from '../../engine/locate-engine.ts'
import { begin, type TerminalCommand } from '../../parse/invocation.ts'
import { print } from '../../io.ts'
import { needOf } from '../../engine/need.ts'
import { diffText, fullText } from '../../output/changes.ts'
import { observationText, writePicture } from '../../output/observation.ts'
import { addOperation, readOperation } from '../../run-operation.ts'
import { reportingControl } from '../../output/control-notice.ts'

export const command: TerminalCommand = {
  async run(invocation) {
    const operation = operationNamed(invocation.manifest, 'observe')
    const { context, typed } = begin(invocation, (flags) => {
      addOperation(flags, operation)
      flags.addOption(new Option('-o, --output <file>', 'write the screenshot to this file'))
    })
    const { io, settings } = context
    const { input, source } = readOperation(context, operation, typed)
    const home = openHome(context, needOf(operation, input))
    try {
      const asking = call(home.transport, operation.http, input, { signal: io.signal, strict: true })
      const body = await reportingControl(io, home.transport, String(input['session_id']), asking)
      // A selector that finds nothing is the page's answer, not a refused request.
      if ((body as { success: boolean }).success === false) throw BaxError.fromBody(body)
      const seen = body as Observation
      if (settings.json) print(io, JSON.stringify(seen))
      else if (seen.changes) print(io, diffText(seen.changes))
      else print(io, `${seen.full ? `${fullText[seen.full]}\n` : ''}${observationText(seen)}`)
      const file = typed.flags['output'] as string | undefined
      if (seen.screenshot !== undefined && (file !== undefined || !settings.json)) {
        const path = writePicture(io, seen.screenshot, file, new Date())
        if (!settings.json) print(io, `\nscreenshot: ${path}`)
      }
      return exits.done
    } catch (error) {
      throw explainSession(error, source)
    } finally {
      await home.transport.close()
    }
  },
}
