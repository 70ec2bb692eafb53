import { availableParallelism } from 'node:os'
import { limits } from '../../../core/limits/limits.ts'

const { pages, mostPages, pagesPerProcessor } = limits.scrape

/** Number of pages rendered at the same time, more than CPUs because pages spend most of their time waiting. */
export const renderedAtOnce = Math.min(mostPages, Math.max(pages, pagesPerProcessor * availableParallelism()))
