/** The tool that crawls sites, and finds and reads text in the crawled pages. */
import { z } from 'zod'
import type { Input } from '../../client/calls.ts'
import { certificateHint } from '../../core/errors/certificates.ts'
import { BaxError } from '../../core/errors/errors.ts'
import { limits } from '../../core/limits/limits.ts'
import type { CrawlState } from '../../core/shapes/crawl.ts'
import type { ScrapeData } from '../../core/shapes/scrape.ts'
import { operations, streams } from '../../operations/index.ts'
import { hintOf } from '../answer.ts'
import type { Connection } from '../connection.ts'
import { crawledPage } from '../resources.ts'
import { defineTool, type ToolAnswer, type ToolCall } from '../tool.ts'
import { crawlIdentity, readAs } from './identity.ts'
import { excerpts } from '../../core/text/excerpts.ts'

const { url, limit, include_paths, exclude_paths, max_depth } = operations.crawl.input.shape
const { mcp } = limits

export const webCrawl = defineTool({
  name: 'web_crawl',
  description:
    'Crawl a site and list its pages, or the passages with a text. Pass id to wait for, search or read a crawl again.',
  uses: [operations.crawl, streams.crawlEvents, operations.getCrawl, operations.cancelCrawl],
  effect: 'read',
  input: z.object({
    url: url.optional().describe('Start page of a new crawl'),
    id: operations.getCrawl.input.shape.id.optional().describe('Earlier crawl'),
    find: z.string().min(1).max(limits.input.labelChars).optional().describe('Words to find'),
    read: z.array(z.int().min(1)).max(mcp.crawledPages).optional().describe('Numbers of pages'),
    limit: limit.describe(''),
    max_depth: max_depth.describe(''),
    include_paths: include_paths.describe('Globs such as /docs/**'),
    exclude_paths: exclude_paths.describe(''),
    identity: crawlIdentity.describe('As in web_scrape'),
  }),
  output: z.object({
    id: z.string(),
    status: z.string(),
    completed: z.int(),
    pages: z.array(
      z.object({
        page: z.int(),
        url: z.string(),
        title: z.string().optional(),
        passages: z.array(z.string()).optional(),
      }),
    ),
  }),
  async run(call, { url: start, id: earlier, find, read, ...options }) {
    const { connection, signal } = call
    if ((start === undefined) === (earlier === undefined))
      throw new BaxError('invalid_request', 'give either url or id')
    if (start !== undefined) connection.assertAllowed(start)
    const crawled = start !== undefined ? startAndWait(call, { url: start, ...options }) : waitForEnd(call, earlier!)
    const id = await connection.cleaningUp(crawled)
    const state = await connection.ask('getCrawl', { id, limit: 0 }, signal)
    const isRunning = state.status === 'scraping'
    // The passage may be in the pages that are there already.
    const isListed = !isRunning || find !== undefined
    const answer = read ? await readPages(call, id, read) : isListed ? await listPages(call, state, find) : {}
    const wait = isRunning && !read ? ['call again with this id to wait for the end'] : []
    const { status, completed, total, error, code } = state
    const hint = error && code ? certificateHint({ code, message: error }) : undefined
    const facts = `crawl ${id}: ${status}, ${completed}${isRunning ? ` of ${total}` : ''} pages`
    return {
      ...answer,
      text: [facts, answer.text, ...wait, ...hintOf(hint)].filter(Boolean).join('\n'),
      // Errors and warnings may contain URLs of the site.
      page: [error, state.warning, answer.page].filter(Boolean).join('\n'),
      data: { id, status, completed, pages: [], ...answer.data },
      failed: status === 'failed' && completed === 0,
    }
  },
})

type NewCrawl = Input<'crawl'> & { readonly identity?: z.output<typeof crawlIdentity> }

/** Starts a crawl that runs in the background; returns its ID. */
export async function beginCrawl(connection: Connection, { identity, ...input }: NewCrawl): Promise<string> {
  // Not aborted with the call: the ID is needed to cancel it.
  const { id } = await connection.ask('crawl', {
    ...input,
    ...(await readAs(connection, identity)),
    async: true,
  })
  connection.crawls.set(id, input.url)
  return id
}

/** Starts a crawl and waits for its end, within limits; cancels it with the call. Returns its ID. */
async function startAndWait(call: ToolCall, input: NewCrawl): Promise<string> {
  const { connection, signal } = call
  const id = await beginCrawl(connection, input)
  try {
    return await waitForEnd(call, id)
  } catch (error) {
    if (signal.aborted) await connection.ask('cancelCrawl', { id })
    throw error
  }
}

/** Waits for the end of a crawl, within limits; returns its ID. */
async function waitForEnd({ connection, signal, progress }: ToolCall, id: string): Promise<string> {
  const enough = AbortSignal.timeout(mcp.answerMs)
  const types: Input<'crawlEvents'>['types'] = ['crawl.page', 'crawl.progress', 'crawl.finished']
  try {
    const options = { signal: AbortSignal.any([signal, enough]), strict: true }
    for await (const event of connection.calls.follow('crawlEvents', { id, types }, options)) {
      if (event.type === 'crawl.progress') {
        const { completed, total, current } = event.data
        await progress(completed, total, current[0] ?? '')
      }
    }
  } catch (error) {
    if (signal.aborted || !enough.aborted) throw error
  }
  signal.throwIfAborted()
  return id
}

async function readPages(
  { connection, signal }: ToolCall,
  id: string,
  numbers: readonly number[],
): Promise<ToolAnswer> {
  const pages = await Promise.all(numbers.map((number) => crawledPage(connection, id, number, signal)))
  const texts = pages.map((page, at) => `[${numbers[at]}] ${addressOf(page)}\n${page.markdown ?? ''}`)
  return { page: texts.join('\n\n') }
}

/** Pages requested at once. */
const chunk = 100

interface ListedPage {
  readonly page: number
  readonly url: string
  readonly title?: string
  readonly passages?: readonly string[]
}

/** Lists the pages of a crawl, or those with passages that contain the words, best first. */
async function listPages(
  { connection, signal }: ToolCall,
  { id, completed }: CrawlState,
  find?: string,
): Promise<ToolAnswer> {
  const found: { readonly score: number; readonly listed: ListedPage }[] = []
  for (let skip = 0; skip < completed;) {
    const { data } = await connection.ask('getCrawl', { id, skip, limit: Math.min(chunk, completed - skip) }, signal)
    if (data.length === 0) break
    for (const [at, { metadata, markdown = '' }] of data.entries()) {
      const { title, url: address = metadata.sourceURL } = metadata
      const listed = { page: skip + at + 1, url: address, ...(title && { title }) }
      const match = find === undefined ? undefined : excerpts(markdown, find, { title })
      if (match) found.push({ score: match.score, listed: { ...listed, passages: match.passages } })
      else if (find === undefined) found.push({ score: 0, listed })
    }
    skip += data.length
  }
  const most = find === undefined ? mcp.listed : mcp.matches
  const pages = found
    .toSorted((a, b) => b.score - a.score)
    .slice(0, most)
    .map(({ listed }) => listed)
  const more = found.length - pages.length
  const lines = pages.map(({ page, url: address, title = '', passages = [] }) =>
    [`[${page}] ${address} ${title}`.trimEnd(), ...passages].join('\n  '),
  )
  const notes = [
    ...(find === undefined ? [] : [`${found.length} pages contain ${JSON.stringify(find)}`]),
    ...(more > 0 ? [`${more} more pages`] : []),
  ]
  return { text: notes.join('\n'), page: lines.join('\n'), data: { pages } }
}

const addressOf = ({ metadata }: ScrapeData): string => metadata.url ?? metadata.sourceURL
