/** Leases of the sessions of a connection: streams whose end closes the session. */
import { setTimeout as pause } from 'node:timers/promises'
import { asBaxError, type BaxError } from '../core/errors/errors.ts'
import { limits } from '../core/limits/limits.ts'
import type { Frame } from '../core/operation/call.ts'

/**
 * Opens a lease, and opens it again when its stream is cut, until the signal is aborted or the session has ended.
 * Resolves after the first attempt. `onEnded` is called when the session has ended before the signal is aborted.
 */
export function takeLease(
  open: () => AsyncGenerator<Frame>,
  signal: AbortSignal,
  onFailure: (error: BaxError) => void,
  onEnded: () => void = () => {},
): Promise<void> {
  return new Promise((settled) => {
    const keep = async () => {
      while (!signal.aborted) {
        try {
          for await (const _ of open()) settled()
        } catch (thrown) {
          const error = asBaxError(thrown)
          if (signal.aborted) return
          if (isEnded(error)) return onEnded()
          // A proxy that restarts may answer with any status from 500.
          if (!error.retryable && error.status < 500) return onFailure(error)
          settled()
        }
        await pause(limits.lease.retryMs, undefined, { signal }).catch(() => {})
      }
    }
    void keep().finally(settled)
  })
}

/** Returns whether a call failed because its session has ended. */
export const isEnded = ({ code }: BaxError): boolean => /^(?:shell_)?session_/.test(code)
