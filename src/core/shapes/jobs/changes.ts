/** Shapes of changes between two versions of a page, or of a site. */
import { z } from 'zod'
import { limits } from '../../limits/limits.ts'
import { jsonSchema } from '../json-schema.ts'

export const changeStatuses = ['new', 'same', 'changed', 'removed'] as const

const line = z.int().optional()

/** A diff in the structure of the package parse-diff. */
const diffFiles = z.object({
  files: z.array(
    z.object({
      from: z.null(),
      to: z.null(),
      chunks: z.array(
        z.object({
          content: z.string().describe('Header of the chunk, e.g. @@ -1,3 +1,3 @@'),
          changes: z.array(
            z.object({
              type: z.enum(['add', 'del', 'normal']),
              add: z.boolean().optional(),
              del: z.boolean().optional(),
              normal: z.boolean().optional(),
              ln: line.describe('Line number of an added or deleted line'),
              ln1: line.describe('Line number in the earlier text'),
              ln2: line.describe('Line number in the later text'),
              content: z.string(),
            }),
          ),
        }),
      ),
    }),
  ),
})

const diffText = z.string().describe('Changed lines, as a unified diff')
const gitDiff = z.object({ text: diffText, json: diffFiles })

/** The change of a page since its previous scrape, in the format of Firecrawl. */
export const changeTracking = z
  .object({
    previousScrapeAt: z.iso.datetime().nullable().describe('Time of the previous scrape; null for a new page'),
    changeStatus: z.enum(changeStatuses).describe('removed: the page is now an error, such as 404'),
    visibility: z.literal('visible'),
    diff: gitDiff.partial({ json: true }).optional().describe('Of a changed page; `json` with the mode git-diff'),
    json: z
      .record(z.string(), z.object({ previous: z.unknown(), current: z.unknown() }))
      .optional()
      .describe('Changed fields of the extracted data, with the mode json'),
  })
  .meta({ id: 'ChangeTracking' })

/** Options of the changeTracking format. */
export const trackingOptions = z.object({
  modes: z
    .array(z.enum(['git-diff', 'json']))
    .max(2)
    .default([])
    .describe('Details of a change: changed lines, or changed fields of data that the language model extracts'),
  schema: jsonSchema.nullish().describe('For the mode json: JSON schema of the data'),
  prompt: z.string().min(1).max(20_000).nullish().describe('For the mode json: what to extract'),
  tag: z.string().max(limits.input.labelChars).nullish().describe('Name of a separate history of the page'),
})

const urls = (description: string) => z.array(z.string()).describe(description)

/** Changes of a site since an earlier crawl. */
export const siteChanges = z
  .object({
    new: urls('Pages that the earlier crawl did not have'),
    changed: urls('Pages with other content; their entry in `data` has the diff'),
    removed: urls('Pages that respond with 404 or 410, or that nothing links to any more'),
    unchanged: z.int().min(0),
  })
  .meta({ id: 'SiteChanges', description: 'With `since`; at most 10000 URLs each' })

export type ChangeStatus = (typeof changeStatuses)[number]
export type TrackingOptions = z.output<typeof trackingOptions>
export type GitDiff = z.output<typeof gitDiff>
export type ChangeTracking = z.output<typeof changeTracking>
export type SiteChanges = z.output<typeof siteChanges>
