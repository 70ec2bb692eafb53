/** Collects the facts of a crawl while it is followed, and writes its summary page. */
import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Unchecked } from '../../../client/calls.ts'
import { makeMask } from '../../../core/access/mask.ts'
import { redacted, redactHeaders, redactText } from '../../../core/access/redact.ts'
import { BaxError } from '../../../core/errors/errors.ts'
import { normaliseUrl } from '../../../core/net/urls.ts'
import type { CrawlAccounts } from '../../../core/shapes/crawl.ts'
import { writeOutput } from '../../output/write-output.ts'
import type { CrawlCalls } from '../crawl-calls.ts'
import type { CrawlEnd } from '../run.ts'
import type { Sink } from '../sinks.ts'
import { otherRows, pageRow, type Row } from './rows.ts'

/** Shorter values may be parts of unrelated words. */
const shortest = 4

export class SummaryRecorder {
  readonly #path: string
  readonly #redact: (text: string) => string
  readonly #rows = new Map<number, Row>()
  /** Times of errors by URL. */
  readonly #failedAt = new Map<string, string>()

  private constructor(path: string, redact: (text: string) => string) {
    this.#path = path
    this.#redact = redact
  }

  /** Returns nothing without a file. @throws BaxError `invalid_request` if it is a folder */
  static async open(file: string | undefined, cwd: string, input: Unchecked): Promise<SummaryRecorder | undefined> {
    if (file === undefined) return undefined
    const path = resolve(cwd, file)
    if (file === '' || file === '-' || statSync(path, { throwIfNoEntry: false })?.isDirectory()) {
      throw new BaxError('invalid_request', `--report must name a file: "${file}"`, {
        hint: 'for example --report crawl.html',
      })
    }
    const mask = makeMask((await secretsIn(input)).filter(({ length }) => length >= shortest))
    return new SummaryRecorder(path, (text) => mask.text(redactText(text)))
  }

  readonly sink: Sink = {
    page: async (page, ts) => void this.#rows.set(page.index, pageRow(page, ts)),
    error: async ({ url }, ts) => void this.#failedAt.set(url, ts),
  }

  /** Writes the page. `resume` is the command that gets the crawl again. @throws BaxError if the file cannot be written */
  async write(calls: CrawlCalls, { url, finished }: CrawlEnd, accounts: CrawlAccounts, resume: string): Promise<void> {
    const { summaryPage } = await import('./page.ts')
    const { created_at: startedAt } = await calls.state(0, 0)
    const pages = [...this.#rows].toSorted(([a, one], [b, other]) => one.depth! - other.depth! || a - b)
    const html = summaryPage({
      url,
      id: calls.id,
      finished,
      startedAt,
      rows: [...pages.map(([, row]) => row), ...otherRows(accounts, this.#failedAt)],
      accounts,
      redact: this.#redact,
    })
    writeOutput(this.#path, html, `get the pages again with "${resume}"`)
  }
}

/** Returns the values of the secrets that a crawl was started with, which a site may repeat. */
async function secretsIn({ url, headers, cookies }: Unchecked): Promise<string[]> {
  const given = (headers ?? {}) as Readonly<Record<string, string>>
  const safe = redactHeaders(given)
  const inHeaders = Object.entries(given).filter(([name]) => safe[name] === redacted)
  if (cookies === undefined) return inHeaders.map(([, value]) => value)
  const { readCookies } = await import('../../../engine/render/identity/cookie-text.ts')
  const jar = readCookies(cookies as string, new URL(normaliseUrl(String(url))))
  return [...inHeaders.map(([, value]) => value), ...jar.map(({ value }) => value)]
}
