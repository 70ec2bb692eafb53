/** Helpers for tests of sessions that use commands only for inspection. */
import type { Client } from './client.ts'
import { BaxError } from '../../src/core/errors/errors.ts'

/** Returns the value of an expression on a session's active page. */
export async function valueOf(client: Client, sessionId: string, expression: string): Promise<unknown> {
  const { results, error } = await client.runCommands({
    session_id: sessionId,
    commands: [{ command: 'evaluate', data: { expression } }],
  })
  if (error !== undefined) throw new Error(error)
  return (results[0]!.data!['result'] as { value: unknown }).value
}

/** Returns a command for `runCommands`. */
export const command = (name: string, data?: Record<string, unknown>) => ({ command: name, ...(data && { data }) })

/** Opens a URL on a session's active page. */
export const open = (client: Client, sessionId: string, url: string) =>
  client.runCommands({ session_id: sessionId, commands: [{ command: 'navigate_to', data: { url } }] })

/** Returns the error of a call that must fail. */
export async function failureOf(call: Promise<unknown>): Promise<BaxError> {
  try {
    await call
  } catch (error) {
    if (error instanceof BaxError) return error
    throw error
  }
  throw new Error('the call succeeded')
}

/** Returns whether a process exists. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
