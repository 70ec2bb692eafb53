/** Extracts Markdown from one HTML file, in the main thread or a worker thread. */
import { systemReason } from '../../core/errors/system-errors.ts'
import { readFileSync } from 'node:fs'
import { BaxError } from '../../core/errors/errors.ts'
import type { ExtractedMarkdown, ExtractOptions } from '../../engine/scrape/extract-file.ts'

/** A page to extract, as plain data for a worker thread. */
export interface ExtractTask extends ExtractOptions {
  /** File of the page; absent if `bytes` are given. */
  readonly path?: string
  readonly bytes?: Uint8Array
}

/** Either the Markdown or an error. */
export interface Extracted extends Partial<ExtractedMarkdown> {
  readonly error?: string
  /** Duration of the extraction, in milliseconds. */
  readonly ms: number
}

export async function extractPage(task: ExtractTask): Promise<Extracted> {
  const { extractMarkdown } = await import('../../engine/scrape/extract-file.ts')
  const start = performance.now()
  const elapsed = () => Math.round((performance.now() - start) * 10) / 10
  try {
    const result = await extractMarkdown(task.bytes ?? read(task.path!), task)
    return { ...result, ms: elapsed() }
  } catch (error) {
    if (!(error instanceof BaxError)) throw error
    return { error: error.message, ms: elapsed() }
  }
}

function read(path: string): Uint8Array {
  try {
    return readFileSync(path)
  } catch (cause) {
    throw new BaxError('invalid_request', `cannot read the file: ${systemReason(cause)}`, { cause })
  }
}
