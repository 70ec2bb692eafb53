/** The tool that writes what was done in a session as a script. */
import { z } from 'zod'
import { leftOutText } from '../../core/text/script/left-out.ts'
import { operations } from '../../operations/index.ts'
import { defineTool } from '../tool.ts'
import { session } from './browser.ts'

const { format } = operations.getSessionScript.input.shape

export const browserSessionScript = defineTool({
  name: 'browser_session_script',
  description: 'Write what was done as a script.',
  uses: [operations.getSessionScript],
  effect: 'read',
  closed: true,
  input: z.object({ format: format.describe(''), session }),
  async run({ connection, signal }, { session: name, ...request }) {
    const session_id = await connection.session(name)
    const written = await connection.ask('getSessionScript', { session_id, ...request }, signal)
    const { left_out, script, secrets, steps } = written
    const needs = secrets.length > 0 ? `; needs the environment variables ${secrets.join(', ')}` : ''
    const omitted = left_out.length > 0 ? `; left out: ${leftOutText(left_out)}` : ''
    return { text: `${steps} steps${omitted}${needs}`, page: script.trimEnd() }
  },
})
