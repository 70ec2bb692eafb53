/** Converts uploaded files as if they had been fetched. */
import { BaxError } from '../../core/errors/errors.ts'
import type { Upload } from '../../core/engine.ts'
import type { ScrapeAnswer, ScrapeInput } from '../../core/shapes/scrape.ts'
import { ResponseHeaders } from '../egress/response-headers.ts'
import { fetchOverHttp } from './fetch-over-http.ts'
import { planScrape } from './plan.ts'
import type { PageScraper } from './scraper.ts'
import type { ScrapeCaller } from './steps.ts'

/** @throws BaxError `invalid_request` for options that need a browser, and the errors of a scrape */
export async function parseUpload(
  { name, contentType, bytes }: Upload,
  input: ScrapeInput,
  { scraper, caller }: { scraper: PageScraper; caller: ScrapeCaller },
): Promise<ScrapeAnswer> {
  const { url, browserOnly, tracking } = planScrape(input)
  if (tracking) {
    throw new BaxError('invalid_request', 'changes of an uploaded file are not tracked', {
      hint: 'leave out the format changeTracking',
    })
  }
  if (browserOnly) {
    throw new BaxError('invalid_request', 'an uploaded file is not opened in a browser', {
      hint: 'leave out actions, wait_for, remove_overlays, and the formats screenshot and branding',
    })
  }
  const headers = new ResponseHeaders(contentType ? [['content-type', contentType]] : [])
  const file = { url, status: 200, headers, redirects: [], bytes }
  const answers = {
    fetched: async (address: string) => {
      if (address === url) return file
      throw new BaxError('url_blocked', 'an uploaded file cannot load other URLs')
    },
    rendered: async () => {
      throw new BaxError('internal_error', 'an uploaded file is not rendered')
    },
  }
  const answer = await scraper.scrapeFrom(
    input,
    caller,
    async (_, context) => (await fetchOverHttp(url, { ...context, answers })).page,
  )
  if (!answer.data) return answer
  const { url: _, sourceURL: __, ...metadata } = answer.data.metadata
  return { ...answer, data: { ...answer.data, metadata: { sourceURL: name, ...metadata } } }
}
