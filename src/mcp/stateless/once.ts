/** Calls that run once, however often their clients repeat them. */
import { limits } from '../../core/limits/limits.ts'

export interface OnceCall {
  readonly key: string
  readonly input: unknown
  readonly signal: AbortSignal
  /** Called when there is an earlier call with the key, before its result is waited for. */
  readonly onFound?: () => void
}

/** Runs a call once; repeated ones with the same key get its result, also at other gateways. */
export type RunOnce = <T>(call: OnceCall, work: () => Promise<T>) => Promise<T>

interface Entry {
  readonly result: Promise<unknown>
  settled: boolean
}

/** Runs calls once in this process, which alone gets the repeated ones. Calls that wait are kept beyond the limit. */
export function onceHere(): RunOnce {
  const calls = new Map<string, Entry>()
  return <T>({ key, onFound }: OnceCall, work: () => Promise<T>) => {
    const earlier = calls.get(key)
    if (earlier) {
      onFound?.()
      return earlier.result as Promise<T>
    }
    for (const [name, { settled }] of calls) {
      if (calls.size < limits.mcp.pending) break
      if (settled) calls.delete(name)
    }
    const result = work()
    const entry: Entry = { result, settled: false }
    calls.set(key, entry)
    const settle = () => void (entry.settled = true)
    result.then(settle, settle)
    return result
  }
}
