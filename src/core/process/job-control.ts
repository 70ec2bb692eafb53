/** What a process is told by its terminal's job control and by its own end, for a program that takes the terminal over. */
export interface JobControl {
  /** Stops the whole job, as ^Z does; it goes on after this when it is continued. */
  stop(): void
  /** Each hears of one thing until the function that it returns is called. */
  onContinue(listener: () => void): () => void
  onStopRequest(listener: () => void): () => void
  /** An error that nobody caught; with a listener the process does not end by itself. */
  onCrash(listener: (error: unknown) => void): () => void
  /** The last moment before the process ends; only what is done at once is done. */
  onExit(listener: () => void): () => void
}
