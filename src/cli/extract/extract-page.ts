/** Extracts Markdown or JSON from one HTML file, in the main thread or a worker thread. */
import { systemReason } from '../../core/errors/system-errors.ts'
import { readFileSync } from 'node:fs'
import { BaxError } from '../../core/errors/errors.ts'
import type { ExtractedJson, ExtractedMarkdown, ExtractOptions } from '../../engine/scrape/extract-file.ts'
import type { JsonOptions } from '../../engine/scrape/formats/json.ts'

/** A page to extract, as plain data for a worker thread. */
export interface ExtractTask extends ExtractOptions {
  /** File of the page; absent if `bytes` are given. */
  readonly path?: string
  readonly bytes?: Uint8Array
  /** Set to extract data instead of Markdown. */
  readonly json?: JsonOptions
}

/** The Markdown, the data or an error. */
export interface Extracted extends Partial<ExtractedMarkdown & ExtractedJson> {
  readonly error?: string
  /** Duration of the extraction, in milliseconds. */
  readonly ms: number
}

export async function extractPage(task: ExtractTask): Promise<Extracted> {
  const { extractJson, extractMarkdown } = await import('../../engine/scrape/extract-file.ts')
  const start = performance.now()
  const elapsed = () => Math.round((performance.now() - start) * 10) / 10
  try {
    const bytes = task.bytes ?? read(task.path!)
    const result = task.json ? await extractJson(bytes, task.json, task.url) : await extractMarkdown(bytes, task)
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
    // The path begins with the working directory.
    const isUrl = /(?:^|[\\/])https?:\//i.test(path)
    const reason = isUrl ? 'it is a URL, which "bax scrape" reads' : systemReason(cause)
    throw new BaxError('invalid_request', `cannot read the file: ${reason}`, { cause })
  }
}
