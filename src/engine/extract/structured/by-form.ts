/** Values that no label names, known by their form or their place. */
import { coerce, emailIn } from './coerce.ts'
import { textFor, type Wish } from './match.ts'
import type { Pair } from './pairs.ts'
import type { Scope } from './scope.ts'
import type { Shape } from './shape.ts'
import { core, meaning } from './words.ts'

const money = /(?:[$€£¥₹]|\b(?:USD|EUR|GBP|CHF)\b)\s?\d[\d.,' ]{0,20}|\d[\d.,' ]{0,20}(?:[$€£¥₹]|\b(?:USD|EUR|GBP|CHF|kr)\b)/ // prettier-ignore
const currencies: Readonly<Record<string, string>> = { $: 'USD', '€': 'EUR', '£': 'GBP', '¥': 'JPY', '₹': 'INR' }
const phone = /(?:\+|\b0|\(\d)[\d ()/.-]{6,18}\d/
const vague = new Set('value result answer data info information detail fact'.split(' '))
const longestText = 20_000

/** The value that has the form of what is wished for; undefined when there is none. */
export function byForm(shape: Shape, scope: Scope, wish: Wish): unknown {
  const said = (text: string | undefined) => (text === undefined ? undefined : coerce(text, shape))
  const first = (pattern: RegExp) => {
    for (const { text } of scope.passages) {
      const found = pattern.exec(text)?.[0]
      if (found !== undefined) return found
    }
    return undefined
  }
  const kind = kindOf(wish)
  switch (kind) {
    case 'email':
      return said(emailIn(scope.passages.map(({ text }) => text).find((text) => text.includes('@')) ?? ''))
    case 'phone':
      return said(first(phone))
    case 'price':
      return said(first(money))
    case 'currency': {
      const sign = /[$€£¥₹]|\b(?:USD|EUR|GBP|CHF)\b/.exec(first(money) ?? '')?.[0]
      return said(sign && (currencies[sign] ?? sign))
    }
    case 'image':
      return said(scope.pairs.find(({ label, address }) => label === 'image' && address)?.address)
    case 'url':
      return said(scope.pairs.find(({ label, address }) => label !== 'image' && address)?.address)
    case 'title':
      return said(titleOf(scope))
    case 'description':
      return said(scope.passages.find(({ text }) => text.length >= 60)?.text)
    case 'text':
    case 'review':
      return said(textOf(scope))
    default:
      return byContext(shape, scope, wish)
  }
}

/** What the name is about, when its other words only repeat what is around: `product_url` among products. */
function kindOf({ name, context }: Wish): string {
  const around = new Set(context.map(meaning))
  const [head, ...others] = core(name).toReversed()
  return others.every((word) => around.has(word)) ? (head ?? '') : ''
}

/** Without a heading, what a record is called stands in its link, or is its first line. */
function titleOf(scope: Scope): string | undefined {
  const link = scope.pairs.find((pair) => pair.address !== undefined && pair.label === pair.text)
  const [first] = scope.passages
  return link?.text ?? (first && first.text.length < 200 ? first.text : undefined)
}

/** The running text, without the short lines around it. */
function textOf({ passages }: Scope): string | undefined {
  const long = passages.filter(({ text }) => text.length >= 20).map(({ text }) => text)
  return long.length === 0 ? undefined : long.join('\n\n').slice(0, longestText)
}

/** What is meant may be said in the description; where the name says nothing, by the question. */
function byContext(shape: Shape, scope: Scope, wish: Wish): unknown {
  const { name, about, context } = wish
  const isVague = name.every((word) => vague.has(word))
  const said = about.length > 0 || isVague ? (isVague ? context : about) : [...name, ...context]
  const needed = about.length > 0 || isVague ? [] : name
  for (const pair of labelsAmong(scope.pairs, new Set(said.map(meaning)), new Set(needed.map(meaning)))) {
    const value = coerce(textFor(pair, shape, wish), shape)
    if (value !== undefined) return value
  }
  return undefined
}

/** Pairs all of whose label's words are asked for, those with most of them first. */
function labelsAmong(pairs: readonly Pair[], about: ReadonlySet<string>, needed: ReadonlySet<string>): Pair[] {
  return pairs
    .filter(({ words }) => words.length > 0 && words.every((word) => about.has(meaning(word))))
    .filter(({ words }) => needed.size === 0 || words.some((word) => needed.has(meaning(word))))
    .sort((a, b) => b.words.length + b.rank - (a.words.length + a.rank))
    .slice(0, 20)
}
