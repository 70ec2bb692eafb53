/** Options of crawls and maps: which URLs of a site they include, and how they fetch them. */
import { z } from 'zod'
import { limits } from '../../limits/limits.ts'
import { flag, integer } from '../fields.ts'
import { identityFields } from '../read/identity.ts'
import { scrapeOptions } from '../scrape.ts'

const { crawl } = limits
const { allowed_domains } = scrapeOptions.shape

export const scope = {
  include_paths: z
    .array(z.string().min(1).max(crawl.globChars))
    .max(crawl.globs)
    .default([])
    .describe('Globs of decoded paths, e.g. /docs/** (which also matches /docs); all paths when empty'),
  exclude_paths: z
    .array(z.string().min(1).max(crawl.globChars))
    .max(crawl.globs)
    .default([])
    .describe('Globs of paths to exclude; they take precedence'),
  path_syntax: z
    .enum(['glob', 'regex'])
    .optional()
    .describe('Syntax of these paths: globs of whole paths, or regular expressions that match anywhere in them'),
  below_start: flag("Only pages below the start page's path"),
  allow_subdomains: flag("Also follow links to subdomains of the start page's host"),
  ignore_robots: flag('Ignore robots.txt'),
  concurrency: integer(1, crawl.mostAtOnce)
    .optional()
    .describe("Number of concurrent pages; adapted to the machine's load when omitted. It does not affect the result"),
  allowed_domains,
  ...identityFields,
  follow_logout: flag('Also follow links that log out, which are skipped when pages are read with an identity'),
}
