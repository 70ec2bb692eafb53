import { z } from 'zod'
import { limits } from '../../core/limits/limits.ts'
import { defineOperation } from '../../core/operation/operation.ts'
import { cdpAnswer } from '../../core/shapes/relay.ts'
import { identifier, integer } from '../../core/shapes/fields.ts'

export const cdp = defineOperation({
  summary: 'Call a method of the Chrome DevTools Protocol',
  description:
    'On a relay session or a browser session. Methods of Browser, Target, SystemInfo, Extensions and Tethering go to the ' +
    'browser, all others to the given target or the active page. Enabled domains stay enabled for later calls. A ' +
    'protocol error is a response with `success: false` and `cdp`.',
  http: 'POST /cdp',
  scope: ['browser', 'relay'],
  // No command of its own: `bax cdp` reads the params from its arguments or stdin, and writes fields to files.
  bodyBytes: limits.relay.callBytes,
  input: z.object({
    session_id: identifier.describe('Relay session or browser session, by id or name'),
    method: z
      .string()
      .max(limits.input.nameChars)
      .regex(/^[A-Z]\w*\.\w+$/, 'must be a CDP method such as Page.captureScreenshot')
      .describe('Protocol method as Domain.method'),
    params: z.record(z.string(), z.unknown()).default({}).describe('Parameters of the method'),
    target_id: identifier.optional().describe('Page, frame or worker; `browser` for the browser itself'),
    timeout_ms: integer(1, limits.relay.maxCallMs).default(limits.relay.callMs),
    max_bytes: integer(1, limits.relay.maxResultBytes).default(limits.relay.resultBytes),
  }),
  output: cdpAnswer,
  errors: [
    'relay_not_found', 'session_not_found', 'session_closed', 'target_not_found', 'method_denied', 'timeout',
    'too_many_pending', 'payload_too_large', 'relay_disconnected', 'browser_lost',
  ], // prettier-ignore
  run: (engine, input, call) => engine.relays.cdp(input, call),
})
