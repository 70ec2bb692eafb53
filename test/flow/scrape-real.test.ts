/** Real pages, if available; for copyright reasons they are not part of the project. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Homes, openHomes, usualHomes } from '../support/homes.ts'
import { titled } from '../support/needs.ts'
import { type Site, serveSite } from '../support/site.ts'
import { respondWith } from '../support/web.ts'

const folder = fileURLToPath(new URL('../../../shared/data/extraction/', import.meta.url))
const reason = existsSync(folder) ? null : 'the real pages belong to their owners and are not here'

interface Item {
  readonly key: string
  readonly type?: string
}

/** Every fortieth page, which includes some of each kind. */
function items(): Item[] {
  const lines = readFileSync(join(folder, 'items.jsonl'), 'utf8').split('\n').filter(Boolean)
  return lines.filter((_, at) => at % 40 === 0).map((line) => JSON.parse(line) as Item)
}

describe.skipIf(reason)(titled('real pages', reason), () => {
  let homes: Homes
  let site: Site
  const pages = reason === null ? items() : []

  beforeAll(async () => {
    homes = await openHomes()
    const html = (key: string) => gunzipSync(readFileSync(join(folder, 'html', `${key}.html.gz`)))
    site = await serveSite(
      Object.fromEntries(pages.map(({ key }) => [`/${key}`, respondWith('text/html; charset=utf-8', html(key))])),
    )
  })
  afterAll(async () => {
    await homes.close()
    await site.close()
  })

  test.each(usualHomes)(
    'every page has every textual format through %s',
    async (home) => {
      const formats = ['markdown', 'html', 'rawHtml', 'links', 'images', 'summary', 'json'] as const
      for (const { key } of pages) {
        const answer = await homes.clients[home].scrape({
          url: `${site.url}/${key}`,
          formats: [...formats],
          render: 'http',
        })
        expect(answer.success, key).toBe(true)
        const { markdown, html, rawHtml, links, images, summary, json, metadata } = answer.data!
        expect(
          [markdown, html, rawHtml, summary].map((text) => typeof text),
          key,
        ).toEqual(Array(4).fill('string'))
        expect(html, key).not.toMatch(/<script[\s>]/i)
        expect(
          links!.every(({ href }) => /^(?:https?|ftp):/.test(href)),
          key,
        ).toBe(true)
        expect(
          images!.every(({ src }) => /^https?:/.test(src)),
          key,
        ).toBe(true)
        expect(json, key).toBeDefined()
        expect(metadata.render).toBe('http')
      }
    },
    300_000,
  )
})
