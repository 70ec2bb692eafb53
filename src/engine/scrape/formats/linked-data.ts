/** The few facts that metadata takes from a page's JSON-LD. */

export interface LinkedFacts {
  readonly headline?: string
  readonly description?: string
  readonly author?: string
  readonly published?: string
  readonly modified?: string
}

type Thing = Record<string, unknown>

const described = /Article|Posting|Product|Recipe|Event|Course|Book|Movie|Report|Page|Question|Video|Podcast/

export function linkedData(scripts: readonly string[]): LinkedFacts {
  const things = scripts.flatMap(readThings)
  const thing = things.find((item) => described.test(String(item['@type'] ?? '')) && !/WebPage|BreadcrumbList/.test(String(item['@type']))) ?? things[0] // prettier-ignore
  if (!thing) return {}
  const facts = {
    headline: text(thing['headline'] ?? thing['name']),
    description: text(thing['description']),
    author: nameOf(thing['author'] ?? thing['creator']),
    published: text(thing['datePublished']),
    modified: text(thing['dateModified']),
  }
  return Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined))
}

function readThings(script: string): Thing[] {
  let value: unknown
  try {
    value = JSON.parse(script.trim().replace(/^<!\[CDATA\[|\]\]>$/g, ''))
  } catch {
    // Broken JSON-LD is common, and says nothing.
    return []
  }
  return flatten(value)
}

function flatten(value: unknown): Thing[] {
  if (Array.isArray(value)) return value.flatMap(flatten)
  if (typeof value !== 'object' || value === null) return []
  const thing = value as Thing
  return [thing, ...flatten(thing['@graph'])].filter((item) => item['@type'] !== undefined)
}

const text = (value: unknown): string | undefined =>
  typeof value === 'string' && value.trim() !== '' ? value.replaceAll(/\s+/g, ' ').trim() : undefined

function nameOf(value: unknown): string | undefined {
  if (Array.isArray(value)) return value.map(nameOf).filter(Boolean).join(', ') || undefined
  if (typeof value === 'object' && value !== null) return text((value as Thing)['name'])
  return text(value)
}
