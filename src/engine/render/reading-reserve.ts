/** Time for reading a page that never finishes loading. */
import { limits } from '../../core/limits/limits.ts'

const { reserveMs, reserveShare } = limits.scrape

/** Returns the part of the time that is left, in milliseconds, after which such a page is read as it is. */
export const readingReserve = (leftMs: number): number => Math.max(reserveMs, leftMs * reserveShare)
