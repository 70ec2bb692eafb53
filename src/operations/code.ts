/** Code of the caller in a sandbox, whose functions are the commands and operations. */
import { defineOperation } from '../core/operation/operation.ts'
import { inGateway } from '../core/operation/placement.ts'
import { codeInput, codeResult } from '../core/shapes/jobs/code.ts'
import { samples } from './samples.ts'

export const runCode = defineOperation({
  summary: 'Run JavaScript that calls commands and operations',
  description:
    'The code has no access to anything but `bax`, `args` and `console`. Each call is checked, limited, approved and ' +
    "recorded as a request of its own with the caller's key. A failed call throws an error with `code` and `message`. A " +
    'failure of the code is part of the response.',
  http: 'POST /code',
  // One scope is enough: every call needs its own.
  scope: ['browser', 'scrape', 'shell', 'relay'],
  runs: inGateway,
  asks: true,
  sample: { ...samples.session, code: "await bax.click('#buy')\nreturn await bax.get_title()" },
  input: codeInput,
  output: codeResult,
  errors: ['timeout', 'limit_exceeded', 'code_failed', 'session_not_found', 'session_closed', 'conflict'],
  run: (engine, input, call) => engine.code.run(input, call),
})
