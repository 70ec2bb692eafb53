/**
 * Failures that nobody waits for, and who answers for them. What a stranger sends is handled by others' code too, which may
 * fail over it in promises of its own; the process, which everybody shares, hears of these last.
 */
import { AsyncLocalStorage } from 'node:async_hooks'

type Culprit = (error: unknown) => void

const culprits = new AsyncLocalStorage<Culprit>()

/** Runs `work`; how it fails, or what follows from it with nobody waiting, is told to `culprit`. */
export function onAccountOf(culprit: Culprit, work: () => unknown): void {
  culprits.run(culprit, async () => work()).catch(culprit)
}

/** Who answers for the promise of which the process is being told; undefined when nobody does. */
export const culpritOfStray = (): Culprit | undefined => culprits.getStore()

/** What a process hears of its own faults; each until the function that it returns is called. */
export interface ProcessFaults {
  /** A promise that failed with nobody waiting for it; with a listener the process goes on. */
  onStray(listener: (error: unknown) => void): () => void
  /** An error that nobody caught; with a listener the process does not end by itself. */
  onCrash(listener: (error: unknown) => void): () => void
  /** Ends the process at once. */
  exit(code: number): void
}
