/** One HTML file as Markdown, with how long it took; the same in this thread and in another. */
import { readFileSync } from 'node:fs'
import { BaxError } from '../../core/errors/errors.ts'

/** A page to extract, as plain data that a thread can be sent. */
export interface ExtractTask {
  /** Where it is read from; standard input has none. */
  readonly path?: string
  readonly bytes?: Uint8Array
  /** Where it comes from, for its links. */
  readonly url?: string
  readonly onlyMain: boolean
  readonly headline: boolean
}

export interface Extracted {
  readonly markdown?: string
  readonly warning?: string
  readonly warning_code?: string
  readonly error?: string
  /** Milliseconds that the page took. */
  readonly ms: number
}

export async function extractPage(task: ExtractTask): Promise<Extracted> {
  const { extractMarkdown } = await import('../../engine/scrape/extract-file.ts')
  const start = performance.now()
  const took = () => Math.round((performance.now() - start) * 10) / 10
  try {
    const result = await extractMarkdown(task.bytes ?? read(task.path!), task)
    return { ...result, ms: took() }
  } catch (error) {
    if (!(error instanceof BaxError)) throw error
    return { error: error.message, ms: took() }
  }
}

function read(path: string): Uint8Array {
  try {
    return readFileSync(path)
  } catch (cause) {
    throw new BaxError('invalid_request', `cannot read it: ${(cause as NodeJS.ErrnoException).code}`, { cause })
  }
}
