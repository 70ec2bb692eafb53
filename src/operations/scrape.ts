import { defineOperation } from '../core/operation/operation.ts'
import { scrapeAnswer, scrapeInput } from '../core/shapes/scrape.ts'

export const scrape = defineOperation({
  summary: 'Scrape pages: Markdown, HTML, links, images, JSON, summary, branding, screenshot',
  description:
    'Fetches by HTTP first and renders in a browser what needs one (`render`). A page that cannot be had is answered 200 with ' +
    '`success: false` and a code; a page with an HTTP error status is a success with `metadata.error` and a `warning`.',
  http: 'POST /v1/scrape',
  scope: 'scrape',
  cli: 'scrape <url>',
  example: 'bax scrape https://example.com',
  input: scrapeInput,
  output: scrapeAnswer,
  errors: ['timeout', 'url_blocked', 'model_not_configured', 'browser_not_found', 'browser_failed'],
  heavy: true,
  run: (engine, input, call) => engine.extractor.scrape(input, call),
})
