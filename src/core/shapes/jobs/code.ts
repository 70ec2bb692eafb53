/** Shapes of code that runs in a sandbox. */
import { z } from 'zod'
import { confirmFields } from '../../access/approvals.ts'
import { limits } from '../../limits/limits.ts'
import { batchContext } from '../commands.ts'
import { duration, identifier, integer, named } from '../fields.ts'

const { code: most } = limits

export const codeInput = z.object({
  code: z
    .string()
    .min(1)
    .max(most.chars)
    .describe('JavaScript: the body of an async function. `bax` has the commands and operations as functions'),
  session_id: identifier
    .optional()
    .describe('Session of the commands. When omitted, the first command opens one, which ends with the code'),
  args: z
    .record(z.string(), z.unknown())
    .refine((args) => JSON.stringify(args).length <= most.argsChars, {
      message: `must have at most ${most.argsChars} characters as JSON`,
    })
    .optional()
    .describe('Values that the code reads from `args`'),
  functions: z
    .array(identifier)
    .max(1000)
    .optional()
    .meta({ offTerminal: true })
    .describe('Names of the functions that the code may call, all when omitted'),
  confirm: confirmFields.confirm.describe('Actions that wait for a person, in a session that the code opens'),
  context: batchContext.optional().meta({ offTerminal: true }),
  timeout_ms: duration(1, most.maxTimeoutMs)
    .default(most.timeoutMs)
    .describe('Timeout for the code with all its calls, in milliseconds'),
  memory_mb: integer(most.minMemoryMb, most.maxMemoryMb).default(most.memoryMb).describe('Memory of the code, in MB'),
  max_calls: integer(0, most.maxCalls).default(most.calls).describe('Calls that the code may make'),
  max_output_chars: integer(0, most.maxOutputChars)
    .default(most.outputChars)
    .describe('Characters that the code may print, and as many for its result as JSON'),
})

export const codeResult = named('CodeResult', {
  success: z.boolean(),
  result: z.unknown().describe('Value that the code returned; null when it returned none, or failed'),
  output: z.string().describe('Lines that the code printed on its console'),
  calls: z.int().describe('Calls that the code made'),
  duration_ms: z.int(),
  error: z.string().optional(),
  code: z.string().optional(),
  message: z.string().optional().describe('Failure of the code, with its line and column'),
  hint: z.string().optional(),
  details: z
    .record(z.string(), z.unknown())
    .optional()
    .describe('Details of the failure: line and column in the code, and those of a failed call'),
})

export type CodeInput = z.output<typeof codeInput>
export type CodeResult = z.output<typeof codeResult>
