/** Shapes of scrapes: requests and responses (`spec: contract 7`). */
import { z } from 'zod'
import { limits } from '../limits/limits.ts'
import { contentSignals } from './read/terms.ts'
import { changeTracking, trackingOptions } from './jobs/changes.ts'
import { jsonSchema } from './json-schema.ts'
import { attributesOptions, attributeValues } from './read/attributes.ts'
import { identityFields, readSession } from './read/identity.ts'
import { product } from './read/product.ts'
import { tagFields } from './read/tags.ts'
import { allowedDomains, flag, listOf, named, number, selectorText, urlText } from './fields.ts'

const { scrape } = limits

export const formatNames = [
  'markdown',
  'html',
  'rawHtml',
  'screenshot',
  'links',
  'images',
  'json',
  'summary',
  'branding',
  'changeTracking',
  'product',
  'attributes',
] as const

/** Fields by which clients of Firecrawl identify themselves in every request. */
export const sender = {
  origin: z.string().max(limits.input.labelChars).optional().meta({ offTerminal: true }).describe('Name of the client'),
  integration: z
    .string()
    .max(limits.input.labelChars)
    .optional()
    .meta({ offTerminal: true })
    .describe('Integration that the client is part of'),
}

/** Options of the json format. */
export const jsonOptions = z.object({
  prompt: z.string().min(1).max(20_000).optional().describe('What to extract, in plain language'),
  schema: jsonSchema.optional().describe('JSON schema of the result'),
})

const format = z.union([
  z.enum([...formatNames, 'screenshot@fullPage']),
  z.object({ type: z.literal('json'), ...jsonOptions.shape }),
  z.object({
    type: z.literal('screenshot'),
    full_page: flag('Capture the whole page instead of the viewport'),
  }),
  z.object({ type: z.literal('changeTracking'), ...trackingOptions.shape }),
  z.object({ type: z.literal('attributes'), ...attributesOptions.shape }),
  // Excludes the formats above, so that errors in their options are reported.
  z.object({ type: z.enum(formatNames).exclude(['json', 'screenshot', 'changeTracking', 'attributes']) }),
])

const selector = selectorText.describe('CSS selector')
const typed = z.string().max(limits.input.typedChars)

export const scrapeAction = z.discriminatedUnion('type', [
  z.object({ type: z.literal('click'), selector }),
  z
    .object({
      type: z.literal('wait'),
      milliseconds: number(0, scrape.waitForMs).optional(),
      selector: selector.optional().describe('Element to wait for until it is visible'),
    })
    .refine((wait) => wait.milliseconds !== undefined || wait.selector !== undefined, {
      message: 'is required (or selector)',
      path: ['milliseconds'],
    }),
  z.object({
    type: z.literal('scroll'),
    direction: z.enum(['up', 'down', 'left', 'right']).default('down'),
    amount: number(0, 1_000_000).optional().describe('Pixels; one viewport when omitted'),
  }),
  z.object({ type: z.literal('type'), selector, text: typed }),
  z.object({
    type: z.literal('press'),
    key: z.string().min(1).max(100).describe('Key, e.g. Enter or Control+a'),
    selector: selector.optional().describe('Element to focus first'),
  }),
  z.object({ type: z.literal('screenshot'), full_page: z.boolean().default(false) }),
  z.object({ type: z.literal('execute'), script: z.string().min(1).describe('JavaScript whose value is returned') }),
  z.object({ type: z.literal('executeJavascript'), script: z.string().min(1).describe('Same as execute') }),
  z.object({ type: z.literal('write'), text: typed.describe('Text to type into the focused element') }),
  z.object({ type: z.literal('scrape') }).describe('Record the current HTML of the page'),
])

export const scrapeOptions = z.object({
  formats: listOf(format)
    .default(['markdown'])
    .describe(
      `Output formats: ${formatNames.join(', ')}, screenshot@fullPage; or objects {type:"json",prompt,schema}, {type:"screenshot",full_page}, {type:"changeTracking", modes, tag}, {type:"attributes", selectors: [{selector, attribute}]}`,
    ),
  wait_for: number(0, scrape.waitForMs).default(0).describe('Milliseconds to wait after page load'),
  json_options: jsonOptions.optional().describe('For format json: prompt and schema'),
  change_tracking_options: trackingOptions
    .optional()
    .meta({ offTerminal: true })
    .describe('For format changeTracking: modes, schema, prompt and tag'),
  only_main_content: z.boolean().default(true).describe('Remove navigation, header and footer'),
  ...tagFields,
  remove_base64_images: z.boolean().default(true).describe('Remove inline base64 images'),
  render: z
    .enum(['auto', 'http', 'browser'])
    .default('auto')
    .describe('auto: fetch over HTTP, and use a browser only for pages that need one'),
  timeout: number(1, scrape.maxTimeoutMs)
    .default(scrape.timeoutMs)
    .describe('Timeout for the whole scrape in milliseconds, to which wait_for and wait actions are added'),
  prefer_markdown: z
    .enum(['auto', 'always', 'never'])
    .default('auto')
    .describe(
      'Use of Markdown that a site offers in place of a page, if the only format is markdown: auto: if the server sends it or the page links to it; always: also if llms.txt lists it, and for pages of crawls, which are HTML otherwise; never: read the HTML',
    ),
  max_age: z.number().min(0).default(0).describe('Maximum age of a cached response in milliseconds; 0: no cache'),
  block_ads: z.boolean().default(true).describe('Block advertisements'),
  remove_overlays: flag('Remove cookie banners and other overlays'),
  allowed_domains: allowedDomains,
  ...identityFields,
})

export const scrapeInput = z.object({
  url: urlText.describe('Page to scrape; https:// when it has no scheme, http:// on loopback hosts'),
  ...scrapeOptions.shape,
  session_id: readSession,
  actions: z.array(scrapeAction).max(scrape.actions).default([]).describe('Actions run before extraction'),
  ...sender,
})

const text = z.string().optional()

/** Problems with a page that was scraped nevertheless. */
const warningCodes = [
  'empty_page',
  'little_content',
  'incomplete_response',
  'render_failed',
  'markdown_incomplete',
  'login_required',
] as const

/** A warning and its code. */
export const warningFields = {
  warning: text,
  warning_code: z
    .enum(warningCodes)
    .optional()
    .describe(
      'empty_page: no visible text, or only a notice such as "Loading", after waiting; little_content: the main content is less than a tenth of the text of the page; incomplete_response: a part of the page, because the server sent no more; render_failed: the page as fetched, because it could not be rendered; markdown_incomplete: the page, because the Markdown that the site offers is much shorter; login_required: the page asks for a login although the request has an identity',
    ),
}

export const scrapeMetadata = named('ScrapeMetadata', {
  title: text,
  description: text,
  sourceURL: z.string().describe('URL as requested'),
  url: z.string().optional().describe('URL after all redirects'),
  status_code: z.int().optional(),
  error: z.string().optional().describe('Meaning of the status code, if it is 400 or above'),
  content_type: text,
  charset: text,
  language: text,
  author: text,
  published_time: text,
  modified_time: text,
  canonical: text,
  favicon: text,
  robots: text,
  ogTitle: text,
  ogDescription: text,
  ogImage: text,
  ogUrl: text,
  ogType: text,
  ogSiteName: text,
  ogLocale: text,
  redirects: z.array(z.object({ url: z.string(), status: z.int() })).optional(),
  scrape_id: z.string().optional(),
  duration_ms: z.int().optional(),
  render: z.enum(['http', 'browser']).optional(),
  num_pages: z.int().optional().describe('Number of pages of a PDF'),
  summary_source: z.enum(['extractive', 'model']).optional(),
  json_source: z.enum(['heuristic', 'model']).optional(),
  json_valid: z.boolean().optional(),
  json_errors: z.array(z.string()).optional(),
  source_format: z.enum(['markdown']).optional().describe('Format of the source, if it is Markdown'),
  markdown_url: text.describe('URL of the Markdown that was used in place of the page'),
  front_matter: z.record(z.string(), z.unknown()).optional().describe('Front matter of a Markdown source'),
  content_signals: contentSignals.optional(),
  licenses: z.array(z.string()).optional().describe('URLs of the licenses that the page or its site declares'),
  proxy: text.describe('Proxy that the page was read through, without its user name and password'),
  cached_at: z.iso.datetime().optional().describe('Creation time of a response from the cache (max_age)'),
})

export const scrapeData = named('ScrapeResult', {
  markdown: text,
  html: z.string().optional().describe('HTML without scripts'),
  rawHtml: z.string().optional().describe('Decoded response body'),
  screenshot: z.string().optional().describe('PNG, base64'),
  links: z.array(z.object({ href: z.string(), text: z.string() })).optional(),
  images: z.array(z.object({ src: z.string(), alt: z.string() })).optional(),
  json: z.unknown().optional(),
  summary: z.string().optional().describe('Summary in 2-3 sentences'),
  branding: z
    .record(z.string(), z.unknown())
    .optional()
    .describe('colorScheme, brandName, logo, favicon, fonts, colors, typography, spacing, components, images'),
  product: product
    .nullable()
    .optional()
    .describe('Facts about the product of the page; null if the page is not about one'),
  attributes: attributeValues.optional(),
  actions: z
    .object({
      screenshots: z.array(z.string()).describe('PNG, base64, one per screenshot action'),
      results: z.array(z.object({ index: z.int(), value: z.unknown() })).describe('Values of execute actions'),
      scrapes: z
        .array(z.object({ url: z.string(), html: z.string() }))
        .optional()
        .describe('HTML recorded by scrape actions'),
    })
    .optional(),
  changeTracking: changeTracking
    .optional()
    .describe('Change since the previous scrape, or since an earlier crawl (`since`)'),
  metadata: scrapeMetadata,
  ...warningFields,
})

export const scrapeAnswer = named('ScrapeAnswer', {
  success: z.boolean(),
  data: scrapeData.optional().describe('Absent when the page could not be loaded'),
  ...warningFields,
  error: text,
  code: text,
})

export type WarningCode = (typeof warningCodes)[number]
export type FormatName = (typeof formatNames)[number]
export type ScrapeInput = z.output<typeof scrapeInput>
export type ScrapeAction = z.output<typeof scrapeAction>
export type ScrapeMetadata = z.output<typeof scrapeMetadata>
export type ScrapeData = z.output<typeof scrapeData>
export type ScrapeAnswer = z.output<typeof scrapeAnswer>
