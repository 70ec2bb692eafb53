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
