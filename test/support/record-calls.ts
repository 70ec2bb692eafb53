/** Runs before each file of tests: records its name, what succeeds, and errors that operations do not declare. */
import { relative } from 'node:path'
import { expect } from 'vitest'
import { operations, sockets, streams, transfers } from '../../src/operations/index.ts'
import { BaxError } from '../../src/core/errors/errors.ts'
import type { HttpOperation } from '../../src/core/operation/operation.ts'
import { declaredCodes } from '../../src/server/openapi/responses.ts'
import { recordCall } from './calls.ts'

type Method = (...args: unknown[]) => Promise<unknown>

const wrapped = Symbol.for('bax test: records calls')

recordCall('file', relative(process.cwd(), expect.getState().testPath!))
for (const [name, value] of Object.entries({ ...operations, ...streams, ...transfers, ...sockets })) {
  const operation = value as unknown as Record<string | symbol, unknown>
  // Files that share a process share the operations.
  if (operation[wrapped]) continue
  operation[wrapped] = true
  const declared = name in sockets ? undefined : declaredCodes(value as HttpOperation)
  // The name of the function depends on the kind of the operation.
  for (const method of ['run', 'open', 'receive']) {
    const original = operation[method]
    if (typeof original === 'function') operation[method] = recorded(name, original as Method, declared)
  }
}

function recorded(name: string, original: Method, declared: readonly string[] | undefined): Method {
  return async function (this: unknown, ...args) {
    const output = await original.apply(this, args).catch((error: unknown) => {
      if (error instanceof BaxError && declared?.includes(error.code) === false)
        recordCall('undeclared error', `${name}: ${error.code}`)
      throw error
    })
    recordCall('operation', name)
    const { results } = (output ?? {}) as { results?: unknown }
    if (Array.isArray(results)) {
      for (const { command, success } of results) if (success === true) recordCall('browser command', command)
    }
    return output
  }
}
