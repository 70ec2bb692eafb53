import { createMultibyteEncoder } from '@exodus/bytes/multi-byte.js'
import { expect, test } from 'vitest'
import type { CrawlAnswer, MapAnswer } from '../../src/core/shapes/crawl.ts'
import type { ScrapeData } from '../../src/core/shapes/scrape.ts'
import { inUsualHomes } from '../support/commands.ts'
import { respondWith } from '../support/web.ts'

const encodings = [
  'utf-8',
  'utf-16le',
  'shift_jis',
  'gbk',
  'gb18030',
  'big5',
  'euc-jp',
  'euc-kr',
  'iso-2022-jp',
  'koi8-r',
  'koi8-u',
  'iso-8859-1',
  'iso-8859-2',
  'iso-8859-8-i',
  'windows-1251',
  'windows-874',
  'macintosh',
  'x-user-defined',
]
const texts = ['日本', 'é', 'Привет', '€', 'a日b é"c', '中文', '한국', '😀', '¥q‾', '日😀本', '漢\u00a0字']

/** Writes a text as references, so that a page in any encoding can contain it. */
const referenced = (text: string): string => text.replaceAll(/[^\w]/gu, (character) => `&#${character.codePointAt(0)};`)

const linksPage = texts
  .map((text, at) => {
    const part = referenced(text)
    return `<p><a href="/${part}?q=${part}&x=1#${part}">link ${at}</a></p>`
  })
  .join('')

/** Decodes the escapes of a URL, because Markdown needs more of them. */
const bytesOf = (url: string): string =>
  url.replaceAll(/%[\dA-F]{2}/g, (escape) => String.fromCharCode(Number.parseInt(escape.slice(1), 16)))

const sjis = createMultibyteEncoder('shift_jis')
/** URLs that were requested with a query, as sent. */
const requested: string[] = []

inUsualHomes(
  {
    ...Object.fromEntries(
      encodings.map((encoding) => [
        `/${encoding}`,
        respondWith(
          `text/html; charset=${encoding}`,
          Buffer.from(linksPage, encoding === 'utf-16le' ? 'utf16le' : 'latin1'),
        ),
      ]),
    ),
    '/sjis': respondWith('text/html', sjis('<meta charset="Shift_JIS"><h1>検索</h1><a href="/s?q=日本">日本</a>')),
    '/s': (request, response) => {
      requested.push(request.url!)
      respondWith('text/html', sjis('<meta charset="Shift_JIS"><h1>結果</h1><p>日本語のページ</p>'))(request, response)
    },
  },
  (given) => {
    test.each(encodings)('links of a page in %s are those of the browser', async (encoding) => {
      const url = given.url(`/${encoding}`)
      await given.open(`/${encoding}`)
      const links = (await given.evaluate('[...document.links].map((link) => link.href)')) as string[]
      for (const render of ['http', 'browser'] as const) {
        const { data } = (await given.client().scrape({ url, render, formats: ['links', 'markdown'] })) as {
          data: ScrapeData
        }
        expect(data.links!.map(({ href }) => href)).toEqual(links)
        const targets = [...data.markdown!.matchAll(/\]\((\S+)\)/g)].map(([, target]) => bytesOf(target!))
        expect(targets).toEqual(links.map(bytesOf))
      }
      const content = (await given.run([['get_content', { kind: 'json' }]])).results[0]!.data!['content']
      expect((content as { links: { href: string }[] }).links.map(({ href }) => href)).toEqual(links)
    })

    test('a crawl and a map request and list such links as the browser does', async () => {
      const sent = '/s?q=%93%FA%96{'
      const input = { url: given.url('/sjis'), ignore_robots: true }
      const answer = (await given.client().crawl(input as never)) as CrawlAnswer
      expect(answer.data.map(({ metadata }) => metadata.sourceURL)).toEqual([given.url('/sjis'), given.url(sent)])
      const map = (await given.client().map(input as never)) as MapAnswer
      expect(map.links).toEqual([given.url('/sjis'), given.url(sent)])
      await given.open('/sjis')
      await given.do('click', { selector: 'a' })
      await given.do('wait_for', { selector: 'p' })
      expect(new Set(requested)).toEqual(new Set([sent]))
    })
  },
)
