/** Returns the call of a server, for tests that use an engine directly. */
import type { Call } from '../../src/core/operation/call.ts'
import { type Caller, keylessCaller } from '../../src/core/access/caller.ts'

export const callOf = (caller: Caller = keylessCaller, signal: AbortSignal = new AbortController().signal): Call => ({
  caller,
  signal,
  baseUrl: 'http://localhost',
  socketBaseUrl: null,
  requestId: 'req_test',
})
