/** Interface and errors of scalers. */

/**
 * How a platform removes a worker when the count goes down; the one to remove must be idle and drained by then.
 * `exited`: it has exited by itself. `unready`: the platform prefers those that report that they are not ready.
 * `last`: the one with the highest number at the end of its host name.
 */
export type Removal = 'exited' | 'unready' | 'last'

export interface Scaler {
  readonly removal: Removal
  /** Requests a number of workers; resolves when the platform has accepted it. @throws ScalerError */
  want(count: number): Promise<void>
  /** Returns the number that the platform maintains; undefined if it does not report it. @throws ScalerError */
  current(): Promise<number | undefined>
  /** Returns the scaler in words. */
  describe(): string
}

/** A failed request to a platform. */
export class ScalerError extends Error {
  readonly hint: string | undefined

  constructor(message: string, { hint, cause }: { hint?: string | undefined; cause?: unknown } = {}) {
    super(message, { cause })
    this.hint = hint
  }
}

/** The number cannot go down yet: workers that nobody drained would be removed. */
export class StillRunningError extends ScalerError {}
