/** Limits on reading PDFs, office documents and compressed bodies; part of `limits.ts`. */
export const documentLimits = {
  /** The process of these threads: the idle time after which it ends, and the documents after which it is replaced. */
  documents: { idleMs: 30_000, tasks: 200 },

  /** Worker threads for PDFs, the heap of each, and how much the process may grow meanwhile. */
  pdf: { threads: 2, heapMb: 512, bytes: 1024 ** 3, pollMs: 50, longestMs: 30_000, idleMs: 30_000 },

  /**
   * Worker threads for office documents, and what one may contain: files, bytes when unpacked, XML elements, cells of its
   * tables, columns of a sheet, repeated empty cells, and nested elements and groups.
   */
  office: {
    threads: 2,
    heapMb: 768,
    longestMs: 30_000,
    idleMs: 30_000,
    files: 10_000,
    unpackedBytes: 64 * 1024 * 1024,
    nodes: 1_500_000,
    cells: 100_000,
    columns: 16_384,
    emptyCells: 64,
    levels: 5000,
  },

  /** Worker threads that decompress large bodies. */
  unzstd: { threads: 2, heapMb: 128, longestMs: 30_000, idleMs: 30_000 },
} as const
