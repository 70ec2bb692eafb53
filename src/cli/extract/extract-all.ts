/** Extracts files in order; parts that repeat on several of them are not content. */
import { inOrder } from '../scrape/in-order.ts'
import type { Io } from '../io.ts'
import type { Extracted, ExtractTask } from './extract-page.ts'
import type { HtmlFile } from './html-files.ts'
import { extractorFor } from './worker-pool.ts'

/** Number of files that are read before the first of them is finished. */
const together = 256

interface FileTask {
  readonly file: HtmlFile
  readonly task: ExtractTask
}

interface ExtractedFile {
  readonly file: HtmlFile
  readonly extracted: Omit<Extracted, 'outline'>
}

/** Extracts files; `site` tells whether to learn from the other files. */
export async function* extractAll(io: Io, tasks: readonly FileTask[], site: boolean): AsyncGenerator<ExtractedFile> {
  const extractor = extractorFor(tasks.length, io)
  const extract = async ({ file, task }: FileTask): Promise<FileTask & { extracted: Extracted }> => {
    io.signal.throwIfAborted()
    // Standard input can be read only once.
    const bytes = task.bytes ?? (await file.read?.())
    const whole = { ...task, ...(bytes && { bytes }) }
    return { file, task: whole, extracted: await extractor.extract(whole) }
  }
  try {
    const { SiteMemory, mayChange, minPages } = await import('../../engine/extract/main-content/site/site-memory.ts')
    if (!site || tasks.length < minPages) return yield* inOrder(tasks, extractor.together, extract)
    const memory = new SiteMemory()
    for (let from = 0; from < tasks.length; from += together) {
      const group = tasks.slice(from, from + together).map(({ file, task }) => ({ file, task: { ...task, site: '' } }))
      const pages: Awaited<ReturnType<typeof extract>>[] = []
      for await (const page of inOrder(group, extractor.together, extract)) {
        pages.push(page)
        if (page.extracted.outline !== undefined) memory.learn(page.extracted.outline)
      }
      const summary = memory.summary()
      const again = async ({ file, task, extracted }: (typeof pages)[number]): Promise<ExtractedFile> => {
        const { outline, ...first } = extracted
        if (outline === undefined || !mayChange(outline, summary)) return { file, extracted: first }
        const { outline: _, ...second } = (await extract({ file, task: { ...task, site: summary } })).extracted
        return { file, extracted: { ...second, ms: Math.round((first.ms + second.ms) * 10) / 10 } }
      }
      yield* inOrder(pages, extractor.together, again)
    }
  } finally {
    await extractor.close()
  }
}
