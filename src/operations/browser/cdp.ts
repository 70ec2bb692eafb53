import { limits } from '../../core/limits/limits.ts'
import { defineOperation } from '../../core/operation/operation.ts'
import { onAnySession } from '../../core/operation/placement.ts'
import { cdpAnswer, cdpInput } from '../../core/shapes/relay.ts'
import { samples } from '../samples.ts'

export const cdp = defineOperation({
  summary: 'Call a method of the Chrome DevTools Protocol',
  description:
    'On a relay session or a browser session. Methods of Browser, Target, SystemInfo, Extensions and Tethering go to the ' +
    'browser, all others to the given target or the active page. Enabled domains stay enabled for later calls. A ' +
    'protocol error is a response with `success: false` and `cdp`.',
  http: 'POST /cdp',
  scope: ['browser', 'relay'],
  runs: onAnySession,
  // No command of its own: `bax cdp` reads the params from its arguments or stdin, and writes fields to files.
  bodyBytes: limits.relay.callBytes,
  sample: { ...samples.session, method: 'Runtime.evaluate', params: { expression: '6 * 7' } },
  input: cdpInput,
  output: cdpAnswer,
  errors: [
    'session_closed',
    'target_not_found',
    'method_denied',
    'timeout',
    'too_many_pending',
    'relay_disconnected',
    'browser_lost',
    'rejected',
    'confirmation_timeout',
  ],
  run: (engine, input, call) => engine.relays.cdp(input, call),
})
