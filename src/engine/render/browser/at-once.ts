/** How many pages are rendered at the same time. */
import { availableParallelism } from 'node:os'
import { limits } from '../../../core/limits/limits.ts'

const { pages, mostPages, pagesPerProcessor } = limits.scrape

/** Pages spend most of their time waiting: so many tabs keep the processors at work. */
export const renderedAtOnce = Math.min(mostPages, Math.max(pages, pagesPerProcessor * availableParallelism()))
