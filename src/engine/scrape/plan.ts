/** Converts the input of a scrape to a plan. */
import type { EngineConfig } from '../../core/config/config.ts'
import { BaxError } from '../../core/errors/errors.ts'
import { credentialIn } from '../../core/identity.ts'
import type { Origin } from '../../core/process/turns.ts'
import type { TrackingOptions } from '../../core/shapes/jobs/changes.ts'
import type { FormatName, ScrapeInput } from '../../core/shapes/scrape.ts'
import type { TagQueries } from './content/tags.ts'
import type { AttributeQuery } from './formats/attributes/attributes.ts'
import type { JsonOptions } from './formats/json.ts'
import type { SiteSummary } from '../extract/main-content/site/site-memory.ts'
import type { ReadIdentity } from '../render/identity/identity.ts'
import { scrapeUrl } from '../render/http/web-url.ts'

export interface ScrapePlan {
  readonly input: ScrapeInput
  readonly url: string
  readonly formats: ReadonlySet<FormatName>
  readonly fullPage: boolean
  readonly json: JsonOptions
  /** Options of the format changeTracking, if it is requested. */
  readonly tracking?: TrackingPlan
  /** Selectors of the format attributes, if it is requested. */
  readonly attributes: readonly AttributeQuery[]
  /** Elements that the content is limited to, if any are given. */
  readonly tags?: TagQueries
  /** Timeout of the whole scrape, waits included, in milliseconds. */
  readonly timeoutMs: number
  /** Ways to find Markdown in place of the page; undefined if the page itself is needed. */
  readonly markdown?: 'auto' | 'always'
  /** Whether formats or actions require a browser. */
  readonly browserOnly: boolean
  /** Summary of other pages of the site; set for the pages of crawls only. */
  readonly site?: SiteSummary
  /** ID of the key that the page is loaded for; null for the engine itself. */
  readonly from: Origin
  readonly identity?: ReadIdentity
}

interface TrackingPlan extends Partial<TrackingOptions> {
  /** Path of the options in the input, for errors. */
  readonly field: string
}

/** @throws BaxError `invalid_request` or `url_blocked` */
export function planScrape(input: ScrapeInput, from: Origin = null, identity?: ReadIdentity): ScrapePlan {
  const url = scrapeUrl(input.url)
  const { formats, fullPage, json, tracking, attributes } = readFormats(input)
  const waits = input.actions.reduce((sum, action) => sum + ((action.type === 'wait' && action.milliseconds) || 0), 0)
  const reasons = browserReasons(input, formats)
  const browserOnly = reasons.length > 0
  if (browserOnly && input.render === 'http') {
    throw new BaxError('invalid_request', `render "http" cannot be combined with ${reasons.join(', ')}`, {
      details: [{ path: 'render', message: `must be auto or browser with ${reasons.join(', ')}` }],
    })
  }
  const timeoutMs = input.timeout + input.wait_for + waits
  const { prefer_markdown: prefer } = input
  const tags = readTags(input)
  const asMarkdown = prefer !== 'never' && !tags && onlyMarkdown(input, formats) && !browserOnly && { markdown: prefer }
  const kept = { ...(tracking && { tracking }), ...(tags && { tags }), ...(identity && { identity }), ...asMarkdown }
  return { input, url, formats, fullPage, json, attributes, timeoutMs, browserOnly, from, ...kept }
}

/** Reads the selectors of the elements that the content is limited to; returns undefined without any. */
function readTags(input: ScrapeInput): TagQueries | undefined {
  const queriesOf = (name: 'include_tags' | 'exclude_tags') =>
    (input[name] ?? []).map((selector, at) => ({ selector, field: `${name}[${at}]` }))
  const [include, exclude] = [queriesOf('include_tags'), queriesOf('exclude_tags')]
  return include.length + exclude.length > 0 ? { include, exclude } : undefined
}

/** Reads the formats and their options. @throws BaxError `invalid_request` if a format lacks what it requires */
function readFormats(input: ScrapeInput) {
  const formats = new Set<FormatName>()
  let fullPage = false
  let json: JsonOptions = { ...input.json_options, schemaField: 'json_options.schema' }
  let tracking: TrackingPlan = { ...input.change_tracking_options, field: 'change_tracking_options' }
  const attributes: AttributeQuery[] = []
  for (const [at, format] of input.formats.entries()) {
    if (typeof format === 'string') {
      fullPage ||= format === 'screenshot@fullPage'
      formats.add(format === 'screenshot@fullPage' ? 'screenshot' : format)
      continue
    }
    formats.add(format.type)
    if ('full_page' in format) fullPage ||= format.full_page
    if (format.type === 'changeTracking') tracking = { ...(format as TrackingOptions), field: `formats[${at}]` }
    if ('selectors' in format)
      for (const [index, query] of format.selectors.entries())
        attributes.push({ ...query, field: `formats[${at}].selectors[${index}].selector` })
    if (format.type === 'json' && ('prompt' in format || 'schema' in format)) {
      const { prompt, schema } = format as JsonOptions
      json = {
        ...json,
        ...(prompt !== undefined && { prompt }),
        ...(schema && { schema, schemaField: `formats[${at}].schema` }),
      }
    }
  }
  const tracked = formats.has('changeTracking')
  if (tracked) refuseCredentials(input, 'the format changeTracking')
  if (tracked && !formats.has('markdown')) {
    throw new BaxError('invalid_request', 'the format changeTracking requires the format markdown', {
      details: [{ path: 'formats', message: 'must contain markdown, of which changes are reported' }],
    })
  }
  if (formats.has('attributes') && attributes.length === 0) {
    throw new BaxError('invalid_request', 'the format attributes requires selectors', {
      details: [{ path: 'formats', message: 'must be {type: "attributes", selectors: [{selector, attribute}]}' }],
      hint: "in the terminal, use --attribute 'a.next@href'",
    })
  }
  return { formats, fullPage, json, attributes, ...(tracked && { tracking }) }
}

/**
 * Refuses to compare pages that are read with credentials: versions are kept by URL, whoever reads them.
 * @throws BaxError `invalid_request`
 */
export function refuseCredentials(input: Parameters<typeof credentialIn>[0], what: string): void {
  const name = credentialIn(input)
  if (name === undefined) return
  throw new BaxError('invalid_request', `${what} cannot be combined with ${name}`, {
    hint: `leave out ${name}, or compare the pages yourself: versions are kept by URL, whoever reads them`,
    details: [{ path: name, message: `cannot be combined with ${what}` }],
  })
}

/** Whether the result has nothing that needs the HTML of the page. */
const onlyMarkdown = ({ render, only_main_content: main }: ScrapeInput, formats: ReadonlySet<FormatName>): boolean =>
  render !== 'browser' && main && formats.size === 1 && formats.has('markdown')

/** Returns the formats and options that require a browser. */
const browserReasons = (input: ScrapeInput, formats: ReadonlySet<FormatName>): string[] => [
  ...(['screenshot', 'branding'] as const).filter((name) => formats.has(name)).map((name) => `format ${name}`),
  ...(input.actions.length > 0 ? ['actions'] : []),
  ...(input.wait_for > 0 ? ['wait_for'] : []),
  ...(input.remove_overlays ? ['remove_overlays'] : []),
]

/** Checks schemas and selectors before a page is fetched. @throws BaxError `invalid_request` */
export async function checkOptionsOf({ formats, json, tracking, attributes, tags }: ScrapePlan): Promise<void> {
  const { schema, field } = tracking ?? {}
  const schemas = [
    ...(formats.has('json') ? [json] : []),
    ...(schema ? [{ schema, schemaField: `${field}.schema` }] : []),
  ]
  for (const one of schemas) if (one.schema) (await import('./formats/json.ts')).checkSchema(one)
  if (attributes.length > 0) (await import('./formats/attributes/selectors.ts')).compileSelectors(attributes)
  if (tags) (await import('./content/tags.ts')).compileTags(tags)
}

/** @throws BaxError `model_not_configured` if a plan needs a language model, or rules in place of it */
export function assertModel(
  plan: ScrapePlan,
  { model, builtinExtractor }: Pick<EngineConfig, 'model' | 'builtinExtractor'>,
): void {
  if (plan.tracking?.modes?.includes('json') && !model) {
    const message = 'the mode json of changeTracking needs a language model, and none is configured'
    throw new BaxError('model_not_configured', message, {
      hint: 'set BAX_MODEL_URL and BAX_MODEL, or use the mode git-diff',
    })
  }
  if (model || builtinExtractor !== false || !usesModel(plan)) return
  const formats = ['json', 'summary'].filter((format) => plan.formats.has(format as 'json')).join(' and ')
  throw new BaxError('model_not_configured', `${formats} needs a language model, and none is configured`, {
    hint: 'set BAX_MODEL_URL and BAX_MODEL, or enable the built-in extractor (BAX_BUILTIN_EXTRACTOR)',
  })
}

export const usesModel = ({ formats }: ScrapePlan): boolean => formats.has('json') || formats.has('summary')

/** Returns a plan as plain data for a worker thread, which makes no requests. */
export function withoutIdentity(whole: ScrapePlan): ScrapePlan {
  const { identity: _, ...plan } = whole
  return plan
}
