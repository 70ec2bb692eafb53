/** Splits names and labels into words, and compares them. */
import { wordSet } from '../tree.ts'

/** Synonyms on web pages; the first represents its group. */
const groups = [
  'title name headline heading',
  'description summary abstract overview excerpt intro synopsis bio',
  'price cost preis prix precio prezzo msrp',
  'author writer byline creator',
  'date published posted created publication issued datum',
  'modified updated changed',
  'image picture photo img thumbnail cover avatar',
  'url link href website homepage permalink web',
  'phone telephone tel mobile telefon fon call',
  'email mail',
  'address location adresse anschrift',
  'rating stars score',
  'availability stock available instock',
  'brand manufacturer maker marke hersteller',
  'company organization organisation employer firm',
  'tag keyword topic tags label',
  'category section genre kategorie',
  'color colour farbe',
  'position role job occupation',
  'count number total',
  'review comment opinion testimonial',
  'text body content message quote',
  'question faq',
  'hour hours opening öffnungszeiten',
  'salary pay wage compensation',
  'city town locality ort',
  'country nation land',
  'state region province',
  'zip postcode postal plz',
  'start begin begins starts',
  'end ends until',
  'size dimension dimensions größe',
  'weight gewicht',
  'ingredient zutat',
  'step instruction direction',
  'sku mpn',
  'language lang sprache',
] as const

const representatives = new Map(
  groups.flatMap((group) => {
    const [first, ...others] = group.split(' ')
    return others.map((word) => [word, first!] as const)
  }),
)

const empty = wordSet(
  'the a an of to in on at for from with by and or is are was be this that these those it its as all every each page site please find get give list show extract return me what which who how many much their his her der die das und von',
)

/** Returns lower-case words, the same for `datePublished`, `date_published` and `Date published:`. */
export function wordsOf(text: string): string[] {
  return text
    .replaceAll(/([\p{Ll}\d])(\p{Lu})/gu, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]/u)
    .filter((word) => word !== '')
    .map(singular)
}

/** Returns the words of a sentence, such as a query, without function words. */
export const contentWords = (text: string): string[] =>
  wordsOf(text).filter((word) => word.length > 1 && !empty.has(word))

/** Returns the representative of a word's synonyms. */
export const synonymOf = (word: string): string => representatives.get(word) ?? word

function singular(word: string): string {
  if (word.length > 4 && word.endsWith('ies')) return `${word.slice(0, -3)}y`
  return word.length > 3 && /[^su]s$/.test(word) ? word.slice(0, -1) : word
}

/** Words that only modify others: `aggregateRating ratingValue` is a rating, `is in stock` a stock. */
const light = wordSet('aggregate value offer current main full our is has in on of the a an as by for')

/** Cache of core words: each label is compared with every field name. */
const cores = new WeakMap<readonly string[], readonly string[]>()

/** Returns the words of a name without modifiers, each once. */
export function coreWords(words: readonly string[]): readonly string[] {
  let found = cores.get(words)
  if (!found) {
    const heavy = words.filter((word) => !light.has(word))
    found = [...new Set((heavy.length > 0 ? heavy : words).map(synonymOf))]
    cores.set(words, found)
  }
  return found
}

/**
 * Returns the similarity of a label and a name, from 0 to 1: 1 for the same words, 0.9 for the same meanings, less for
 * more or fewer words; 0 without a common word.
 */
export function similarity(name: readonly string[], label: readonly string[]): number {
  if (name.length === 0 || label.length === 0) return 0
  if (name.join(' ') === label.join(' ')) return 1
  const own = coreWords(name)
  const given = coreWords(label)
  const shared = own.filter((word) => given.includes(word)).length
  if (shared === 0) return 0
  if (shared === own.length && shared === given.length) return 0.9
  const sameHead = own.at(-1) === given.at(-1)
  if (shared === own.length) return (sameHead ? 0.85 : 0.65) * (0.6 + 0.4 * (shared / given.length))
  if (shared === given.length) return (sameHead ? 0.75 : 0.5) * (0.5 + 0.5 * (shared / own.length))
  return sameHead ? 0.5 * (shared / Math.max(own.length, given.length)) + 0.15 : 0.2
}
