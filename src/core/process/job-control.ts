/** Job control and exit events of a process, for programs that take over the terminal. */
export interface JobControl {
  /** Stops the whole job, as ^Z does; returns after it is continued. */
  stop(): void
  /** Each method adds a listener and returns a function that removes it. */
  onContinue(listener: () => void): () => void
  onStopRequest(listener: () => void): () => void
  /** Reports an uncaught error; with a listener the process does not exit by itself. */
  onCrash(listener: (error: unknown) => void): () => void
  /** Reports that the process exits; only synchronous work is completed. */
  onExit(listener: () => void): () => void
}
