/** Reads pages in a reader thread of a build, as its engine does. */
import { once } from 'node:events'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { scrapeInput } from '../../../src/core/shapes/scrape.ts'
import { planScrape } from '../../../src/engine/scrape/plan.ts'
import type { ReadingTask } from '../../../src/engine/scrape/reading.ts'
import { htmlOf } from '../crawl/site.ts'

export function pagesToRead(count: number): ReadingTask[] {
  return Array.from({ length: count }, (_, at) => {
    const url = `https://rivers.example/page/${at}`
    const bytes = new TextEncoder().encode(htmlOf(at, { pages: count, staticOnly: true }))
    return {
      plan: planScrape(scrapeInput.parse({ url, render: 'http' })),
      page: {
        url,
        status: 200,
        headers: [['content-type', 'text/html; charset=utf-8']],
        redirects: [],
        render: 'http',
        warnings: [],
        kind: 'html',
        source: { bytes },
      },
      write: 'always',
      rules: true,
    }
  })
}

export class PageReader {
  readonly #worker: Worker

  /** Starts a thread of the build in a `dist` folder. */
  constructor(dist: string) {
    this.#worker = new Worker(join(dist, 'reading-worker.mjs'))
  }

  /** Reads the pages one after another; returns the CPU time of the process per page, in milliseconds. */
  async read(tasks: readonly ReadingTask[]): Promise<number> {
    const before = process.cpuUsage()
    for (const task of tasks) {
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker has no origin
      this.#worker.postMessage(task)
      let answer: object | 'ready' = 'ready'
      while (answer === 'ready') [answer] = (await once(this.#worker, 'message')) as [object | 'ready']
      if (!('result' in answer)) throw new Error(`the page ${task.page.url} was not read`)
    }
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1000 / tasks.length
  }

  async close(): Promise<void> {
    await this.#worker.terminate()
  }
}
