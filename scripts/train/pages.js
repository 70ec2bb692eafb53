// The training pages, their true texts, and the groups (sites) that a cross-validation keeps together.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { join } from 'node:path'

/** Returns the items of the set with their texts as the scorer reads them. */
export function readItems(folder) {
  return readFileSync(join(folder, 'items.jsonl'), 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))
}

export const readHtml = (folder, item) =>
  gunzipSync(readFileSync(join(folder, 'html', `${item.key}.html.gz`))).toString('utf8')

/** Returns the site of a page: pages of one site are always on the same side of a split. */
export function siteOf({ url, set, id }) {
  if (url.startsWith('hard::'))
    return url
      .slice(6)
      .split(/[-/]/)[0]
      .replace(/^www\./, '')
  const host = URL.canParse(url) ? new URL(url).hostname.replace(/^www\./, '') : ''
  return host === '' || /fakehost|example\.(?:com|org)/.test(host) ? `${set}/${id}` : host
}

/** Returns a stable fold for a site. */
export const foldOf = (item, folds) =>
  createHash('sha256').update(siteOf(item).split('.').slice(-2).join('.')).digest().readUInt32BE(0) % folds
