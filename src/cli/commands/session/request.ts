/** `bax request`: sends an HTTP request with the cookies of a session. */
import { uncheckedFields } from '../../../client/calls.ts'
import { operationNamed } from '../../context.ts'
import { withSession } from '../../engine/locate-engine.ts'
import { needOf } from '../../engine/need.ts'
import { withControlNotice } from '../../output/control-notice.ts'
import { parseInvocation, type TerminalCommand } from '../../parse/invocation.ts'
import { addArguments, readFields } from '../../request/arguments.ts'
import { readBody } from '../../request/read-body.ts'
import { showResponse } from '../../request/show-response.ts'
import { inNamedSession } from '../../session/named-session.ts'

export const command: TerminalCommand = {
  cli: 'request [method] <url>',
  summary: 'Send an HTTP request with the session cookies',
  example: [
    'bax request https://example.com/api/orders',
    "bax request POST https://example.com/login -d 'user=ann' -d remember=1 --include",
    `bax request PUT https://example.com/api/orders/7 --data-json '{"quantity": 2}' --fail`,
    'bax request https://example.com/report.pdf --profile work -o report.pdf',
  ],
  async run(invocation) {
    const operation = operationNamed(invocation.manifest, 'sendRequest')
    const { context, typed } = parseInvocation(invocation, (command) => addArguments(command, operation))
    const { io } = context
    const { fields, session, source } = readFields(context, operation, typed)
    const body = await readBody(io, typed.flags, fields['headers'])
    const input = uncheckedFields({ ...fields, ...body, ...(session !== undefined && { session_id: session }) })
    const opens = source === 'default'
    return withSession(context, opens ? { when: 'start' } : needOf(operation, input), source, async (engine) => {
      const send = () => engine.ask('sendRequest', input, { signal: io.signal, strict: true })
      const answer = opens ? inNamedSession(context, engine, { name: session! }, send) : send()
      return showResponse(context, typed.flags, await withControlNotice(io, engine, session, answer))
    })
  },
}
