/** Calls that run once, however often their clients repeat them. */
import { limits } from '../../core/limits/limits.ts'

/** Runs a call once; repeated ones with the same key get its result, also at other gateways. */
export type RunOnce = <T>(key: string, input: unknown, signal: AbortSignal, work: () => Promise<T>) => Promise<T>

/** Runs calls once in this process, which alone gets the repeated ones. */
export function onceHere(): RunOnce {
  const calls = new Map<string, Promise<unknown>>()
  return <T>(key: string, _input: unknown, _signal: AbortSignal, work: () => Promise<T>) => {
    const earlier = calls.get(key) as Promise<T> | undefined
    if (earlier) return earlier
    const [oldest] = calls.size >= limits.mcp.pending ? calls.keys() : []
    if (oldest !== undefined) calls.delete(oldest)
    const run = work()
    calls.set(key, run)
    return run
  }
}
