/** From what was asked to what has to be done. */
import { BaxError } from '../../core/errors/errors.ts'
import type { FormatName, ScrapeInput } from '../../core/shapes/scrape.ts'
import { scrapeUrl } from '../render/http/web-url.ts'

export interface JsonWish {
  readonly prompt?: string
  readonly schema?: Record<string, unknown>
  /** Where the schema was given, for errors. */
  readonly schemaField?: string
}

export interface ScrapePlan {
  readonly input: ScrapeInput
  readonly url: string
  readonly formats: ReadonlySet<FormatName>
  readonly fullPage: boolean
  readonly json: JsonWish
  /** Milliseconds for everything, waits included. */
  readonly timeoutMs: number
  /** Formats and actions that only a browser can give. */
  readonly browserOnly: boolean
}

/** @throws BaxError `invalid_request` or `url_blocked` */
export function planScrape(input: ScrapeInput): ScrapePlan {
  const url = scrapeUrl(input.url)
  const formats = new Set<FormatName>()
  let fullPage = false
  let json: JsonWish = { ...input.json_options, schemaField: 'json_options.schema' }
  for (const [at, format] of input.formats.entries()) {
    if (typeof format === 'string') {
      fullPage ||= format === 'screenshot@fullPage'
      formats.add(format === 'screenshot@fullPage' ? 'screenshot' : format)
      continue
    }
    formats.add(format.type)
    if ('full_page' in format) fullPage ||= format.full_page
    if (format.type === 'json' && ('prompt' in format || 'schema' in format)) {
      const { prompt, schema } = format as JsonWish
      json = {
        ...json,
        ...(prompt !== undefined && { prompt }),
        ...(schema && { schema, schemaField: `formats[${at}].schema` }),
      }
    }
  }
  const waits = input.actions.reduce((sum, action) => sum + ((action.type === 'wait' && action.milliseconds) || 0), 0)
  const browserOnly =
    formats.has('screenshot') ||
    formats.has('branding') ||
    input.actions.length > 0 ||
    input.wait_for > 0 ||
    input.remove_overlays
  if (browserOnly && input.render === 'http') throw needsBrowser(input, formats)
  return { input, url, formats, fullPage, json, timeoutMs: input.timeout + input.wait_for + waits, browserOnly }
}

/** Checks the schema of the json format before a page is fetched. @throws BaxError `invalid_request` */
export async function checkSchemaOf({ formats, json }: ScrapePlan): Promise<void> {
  if (json.schema && formats.has('json')) (await import('./formats/json.ts')).checkSchema(json)
}

function needsBrowser(input: ScrapeInput, formats: ReadonlySet<FormatName>): BaxError {
  const reasons = [
    ...['screenshot', 'branding'].filter((name) => formats.has(name as FormatName)).map((name) => `format ${name}`),
    ...(input.actions.length > 0 ? ['actions'] : []),
    ...(input.wait_for > 0 ? ['wait_for'] : []),
    ...(input.remove_overlays ? ['remove_overlays'] : []),
  ]
  return new BaxError('invalid_request', `render "http" cannot be combined with ${reasons.join(', ')}`, {
    details: [{ path: 'render', message: `must be auto or browser with ${reasons.join(', ')}` }],
  })
}
