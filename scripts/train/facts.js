// Measures whether the Markdown of pages has the facts that readers came for, and how much of the site around them.
//   node scripts/train/facts.js FACTS.jsonl OUT.json
// FACTS.jsonl has a line per page: {"key": "…", "facts": ["…"], "site": ["…"]}, the texts that must be in the result, and the
// lines of the page that belong to its site. OUT.json, {"KEY": {"markdown": "…"}}, is written by `bax extract PAGES OUT.json`.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** Maximum share of the words of a result that are lines of the site. */
const maxNoise = 0.05

/** Returns the text of Markdown, without the URLs of links and images. */
const textOf = (markdown) => markdown.replaceAll(/\]\([^()\n]*\)/g, ']').replaceAll(/<https?:[^>\n]*>/g, '')

const wordsIn = (text) =>
  text
    .normalize('NFC')
    .toLowerCase()
    .match(/[\p{L}\p{N}]+/gu) ?? []
const plain = (text) => ` ${wordsIn(text).join(' ')} `

/** Returns the number of facts that the Markdown of a page has word for word, and the share of its words that are noise. */
export function measure(markdown, { facts, site }) {
  const text = textOf(markdown)
  const whole = plain(text)
  const known = new Set((site ?? []).map(plain))
  let words = 0
  let foreign = 0
  for (const line of text.split('\n')) {
    const count = wordsIn(line).length
    words += count
    if (count > 0 && known.has(plain(line))) foreign += count
  }
  return { kept: facts.filter((fact) => whole.includes(plain(fact))).length, noise: words > 0 ? foreign / words : 0 }
}

/** Whether a result is what a reader would want: every fact, and little of the site. */
export const isGood = ({ kept, noise }, { facts }) => kept === facts.length && noise <= maxNoise

function main([factsFile, resultsFile]) {
  if (resultsFile === undefined) throw new Error('usage: node scripts/train/facts.js FACTS.jsonl OUT.json')
  const results = JSON.parse(readFileSync(resultsFile, 'utf8'))
  const pages = readFileSync(factsFile, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))
  const rows = pages.map((page) => ({ page, found: measure(results[page.key]?.markdown ?? '', page) }))
  for (const { page, found } of rows)
    if (!isGood(found, page))
      console.log(`${page.key}: ${found.kept} of ${page.facts.length} facts, ${percent(found.noise)} noise`)
  console.log(
    `${percent(rows.filter(({ page, found }) => isGood(found, page)).length / rows.length)} of ${rows.length} pages have every fact and little noise`,
  )
}

const percent = (share) => `${(100 * share).toFixed(1)} %`

if (process.argv[1] === fileURLToPath(import.meta.url)) main(process.argv.slice(2))
