/** Limits of the local engine. */
export const engineLimits = {
  /** Idle time after which a local engine without sessions exits. */
  idleExitMs: 15 * 60_000,
  startMs: 20_000,
  /** Time without a response after which a command checks the engine, and time for that check. */
  quietMs: 10_000,
  unresponsiveMs: 60_000,
  /** Time for open calls to finish when an engine is asked to stop. */
  stopGraceMs: 1_000,
  /** Size at which a log file is rotated. */
  logBytes: 5 * 1024 * 1024,
  /** Interval of checking that the state folder has not been replaced. */
  ownFolderMs: 1500,
  /**
   * Commands of launchers: how many run inside the engine at once, and the delay after its start after which what they
   * need is loaded. Warm processes for other commands: their number, the time after which a command that waits for one
   * runs in Node instead, and the idle time after which all but one end.
   */
  commandsInside: 32,
  commandLoadDelayMs: 500,
  commandWorkers: 8,
  commandQueueMs: 2000,
  commandWorkerIdleMs: 60_000,
}

/** Limits of code in a sandbox. */
export const codeLimits = {
  code: {
    /** Characters of the code, and of its arguments as JSON. */
    chars: 256 * 1024,
    argsChars: 1024 * 1024,
    timeoutMs: 60_000,
    maxTimeoutMs: 600_000,
    /** Memory of the interpreter. It starts with 16 MB. */
    memoryMb: 64,
    minMemoryMb: 17,
    maxMemoryMb: 256,
    calls: 500,
    maxCalls: 5000,
    /** Calls of one run that are under way at the same time; further ones wait. */
    callsAtOnce: 8,
    /** Characters that the code prints, and of its result as JSON: each. */
    outputChars: 64_000,
    maxOutputChars: 1_000_000,
    /** Stack of the code. */
    stackBytes: 256 * 1024,
    /** Time to report where code was when its time was up, before its thread is ended. */
    graceMs: 500,
    /** Runs in one process at the same time, and the JavaScript heap of the thread around each interpreter. */
    runs: 8,
    heapMb: 128,
    /** Lifetime of a session that the code has opened, beyond the longest run. */
    sessionSecs: 60,
  },
} as const
