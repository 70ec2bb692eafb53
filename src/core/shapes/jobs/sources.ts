/** Sources of the URLs of a site, other than links. */
import { z } from 'zod'

export const siteMap = (initial: 'skip' | 'include') =>
  z
    .enum(['skip', 'include', 'only'])
    .default(initial)
    .describe("Use of the site's sitemaps: skip them, include them in addition to links, or use them only")

export const llmsFile = z
  .enum(['skip', 'include', 'only'])
  .default('include')
  .describe(
    "Use of the site's llms.txt: skip it, include its links after the sitemaps (unless sitemap is only), or use it only",
  )

/** A link in llms.txt. */
export const llmsEntry = z.object({
  url: z.string(),
  title: z.string(),
  description: z.string().optional(),
  section: z.string().optional().describe('Heading of its list'),
})

export type LlmsEntry = z.output<typeof llmsEntry>
