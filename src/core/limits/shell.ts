/** Limits of shell sessions: commands, files and artifacts. */
export const shellLimits = {
  shell: {
    /** Sliding idle timeout, restarted by every call on the session. */
    timeoutSecs: 1800,
    maxTimeoutSecs: 86_400,
    maxLifetimeSecs: 21_600,
    maxMaxLifetimeSecs: 604_800,
    /** Live sessions of one engine. */
    sessions: 64,
    /** Lifetime of a stopped session's tombstone. */
    tombstoneMs: 60 * 60_000,
    /** Time for the container of an abandoned session creation to appear. */
    createMs: 120_000,
    /** Time for the last capture of artifacts before a container is removed. */
    lastCaptureMs: 5_000,
    closeMs: 10_000,
    /** Interval at which an engine looks for containers that killed engines have left. */
    sweepMs: 60_000,
    /** Time after which a container that does not run is abandoned: engines start theirs at once. */
    abandonedMs: 5 * 60_000,
    memoryMb: 512,
    cpus: 1,
    pids: 128,
    workspaceMb: 256,
    outputMb: 128,
    tmpMb: 64,
    workspaceFiles: 100_000,
    outputFiles: 20_000,
    tmpFiles: 20_000,
    maxFiles: 4_000_000,
    outputMounts: 8,
    envNames: 256,
    envBytes: 256 * 1024,
  },

  exec: {
    timeoutSecs: 120,
    maxTimeoutSecs: 3600,
    /** Buffered bytes of stdout and of stderr. */
    outputBytes: 8 * 1024 * 1024,
    maxOutputBytes: 64 * 1024 * 1024,
    commandBytes: 1024 * 1024,
    perSession: 16,
    /** Finished commands that are remembered, by number and by output. */
    kept: 100,
    keptBytes: 32 * 1024 * 1024,
    /** Largest chunk of output in one frame. */
    chunkBytes: 32 * 1024,
    /** How long an incomplete UTF-8 sequence waits for its remaining bytes. */
    tailMs: 50,
    pingMs: 15_000,
    /** Bytes of output buffered for a reader. */
    bufferedBytes: 1024 * 1024,
    /** Bytes of standard input buffered for the program. */
    stdinBytes: 1024 * 1024,
    bodyBytes: 64 * 1024 * 1024,
  },

  files: {
    pathBytes: 4096,
    nameBytes: 255,
    readBytes: 16 * 1024 * 1024,
    /** Maximum body of a write. */
    bodyBytes: 64 * 1024 * 1024,
    /** Largest chunk of a file requested from a container at once. */
    chunkBytes: 1024 * 1024,
    listed: 1000,
    maxListed: 10_000,
    treeDepth: 4,
    maxTreeDepth: 32,
    treeEntries: 2000,
    maxTreeEntries: 20_000,
    searchResults: 200,
    maxSearchResults: 5000,
    searchFileBytes: 5 * 1024 * 1024,
    maxSearchFileBytes: 64 * 1024 * 1024,
    lineChars: 500,
    /** Time for one file operation. */
    timeoutMs: 120_000,
  },

  artifacts: {
    fileBytes: 64 * 1024 * 1024,
    sessionBytes: 256 * 1024 * 1024,
    sessionFiles: 2000,
    depth: 64,
    /** Names of skipped files listed by one artifact. */
    skipped: 1000,
    /** Retention of artifacts after their session has stopped. */
    retentionMs: 24 * 60 * 60_000,
    listed: 100,
  },
} as const
