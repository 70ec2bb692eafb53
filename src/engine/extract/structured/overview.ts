/** Summarizes a page as an object, for questions without a schema. */
import { attribute, findElement, type Tree, visibleText } from '../tree.ts'
import type { Collection } from './collections.ts'
import type { Pair } from './pairs.ts'
import type { Scope } from './scope.ts'
import { synonymOf, contentWords, wordsOf } from './words.ts'

const maxFacts = 40
export const maxRecords = 200
const maxPassages = 3

/** Returns title, description, passages, facts, tables and lists; only those related to the question, if any are. */
export function overview(tree: Tree, scope: Scope, question: string): Record<string, unknown> {
  const queryWords = new Set(contentWords(question).map(synonymOf))
  const facts = factsOf(scope.pairs)
  const groups = scope.collections.filter(({ isBoilerplate, records }) => !isBoilerplate && records.length > 0)
  const others = groups.filter(({ kind }) => kind !== 'table')
  const relevantGroups = relevant(others, queryWords, ({ label }) => wordsOf(label))
  const tables = scope.collections.filter(({ table, records }) => table !== undefined && records.length > 0)
  const answer = answers(scope, queryWords)
  const language = attribute(tree.root, 'lang')
  return {
    title: headline(tree, scope),
    ...(scope.pairs.some(isDescription) && { description: scope.pairs.find(isDescription)!.text }),
    ...(language !== '' && { language }),
    ...(answer.length > 0 && { answer }),
    facts: Object.fromEntries(relevant(facts, queryWords, ([label]) => wordsOf(label)).slice(0, maxFacts)),
    tables: relevant(tables, queryWords, ({ label, table }) => wordsOf([label, ...table!.columns].join(' '))).map(
      tableOf,
    ),
    lists: relevantGroups.filter(({ kind }) => kind === 'list').map(listOf),
    items: relevantGroups
      .filter(({ kind }) => kind === 'cards')
      .slice(0, 5)
      .map(listOf),
  }
}

const isDescription = ({ words, text }: Pair): boolean => words.join() === 'description' && text !== ''

function headline(tree: Tree, scope: Scope): string | null {
  const h1 = findElement(tree.root, (element) => element.tag === 'h1' && visibleText(element, 1) !== '')
  if (h1) return visibleText(h1, 500)
  return scope.pairs.find(({ label, text }) => label === 'title' && text !== '')?.text ?? null
}

/** Returns labelled values of the page's text, the first of each label. */
function factsOf(pairs: readonly Pair[]): [string, string | readonly string[]][] {
  const facts = new Map<string, string | readonly string[]>()
  for (const { label, text, rank, isCell, all } of pairs) {
    const isStructure = /^(?:title|image|description|date|url)$/i.test(label)
    // Tables show their cells by the names of the columns.
    if (isCell || rank < 0.68 || isStructure || text === '' || text === label || text.length > 500) continue
    if (!facts.has(label) && label !== '__proto__') facts.set(label, all ?? text)
  }
  return [...facts]
}

/** Returns the items that share words with the question, the most similar first; all when none does. */
function relevant<Item>(
  items: readonly Item[],
  queryWords: ReadonlySet<string>,
  words: (item: Item) => string[],
): Item[] {
  const scored = items.map((item) => ({
    item,
    score: words(item).filter((word) => queryWords.has(synonymOf(word))).length,
  }))
  const near = scored.filter(({ score }) => score > 0).sort((a, b) => b.score - a.score)
  return (near.length > 0 ? near : scored).map(({ item }) => item)
}

/** Returns the passages that share most words with the question. */
function answers({ passages }: Scope, queryWords: ReadonlySet<string>): string[] {
  if (queryWords.size === 0) return []
  return passages
    .map(({ heading, text }) => {
      const inText = new Set(wordsOf(text.slice(0, 2000)).map(synonymOf))
      const inHeading = new Set(wordsOf(heading).map(synonymOf))
      const score = [...queryWords].reduce(
        (sum, word) => sum + (inText.has(word) ? 1 : 0) + (inHeading.has(word) ? 0.5 : 0),
        0,
      )
      return { text, score: score / queryWords.size }
    })
    .filter(({ score, text }) => score >= 0.5 && text.length > 20)
    .sort((a, b) => b.score - a.score)
    .slice(0, maxPassages)
    .map(({ text }) => text)
}

const tableOf = ({ label, records }: Collection) => ({
  ...(label !== '' && { caption: label }),
  rows: records.slice(0, maxRecords).map(({ fields }) => fields),
})

const listOf = ({ label, records }: Collection) => ({
  ...(label !== '' && { heading: label }),
  items: records.slice(0, maxRecords).flatMap(({ element }) => (element ? [visibleText(element, 500)] : [])),
})
