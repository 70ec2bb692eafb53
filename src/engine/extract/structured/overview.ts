/** What a page says, as an object: for questions without a schema. */
import { attribute, elementsOf, type Tree, visibleText } from '../tree.ts'
import type { Collection } from './collections.ts'
import type { Pair } from './pairs.ts'
import type { Scope } from './scope.ts'
import { meaning, meaningOf, wordsOf } from './words.ts'

const mostFacts = 40
const mostRecords = 200
const mostPassages = 3

/** Title, description, answering passages, facts, tables and lists; those that the question is about, if any are. */
export function overview(tree: Tree, scope: Scope, question: string): Record<string, unknown> {
  const asked = new Set(meaningOf(question).map(meaning))
  const facts = factsOf(scope.pairs)
  const groups = scope.collections.filter(({ aside, records }) => !aside && records.length > 0)
  const relevantGroups = relevant(groups, asked, (group) => wordsOf(group.label))
  const answer = answers(scope, asked)
  const language = attribute(tree.root, 'lang')
  return {
    title: headline(tree, scope),
    ...(scope.pairs.some(isDescription) && { description: scope.pairs.find(isDescription)!.text }),
    ...(language !== '' && { language }),
    ...(answer.length > 0 && { answer }),
    facts: Object.fromEntries(relevant(facts, asked, ([label]) => wordsOf(label)).slice(0, mostFacts)),
    tables: relevantGroups.filter(({ kind }) => kind === 'table').map(tableOf),
    lists: relevantGroups.filter(({ kind }) => kind === 'list').map(listOf),
    items: relevantGroups.filter(({ kind }) => kind === 'cards').slice(0, 5).map(listOf), // prettier-ignore
  }
}

const isDescription = ({ words, text }: Pair): boolean => words.join() === 'description' && text !== ''

function headline(tree: Tree, scope: Scope): string | null {
  for (const element of elementsOf(tree.root)) {
    if (element.tag === 'h1' && visibleText(element, 1) !== '') return visibleText(element, 500)
  }
  return scope.pairs.find(({ label, text }) => label === 'title' && text !== '')?.text ?? null
}

/** Labelled values of the page's own making, the first of each label. */
function factsOf(pairs: readonly Pair[]): [string, string][] {
  const facts = new Map<string, string>()
  for (const { label, text, rank } of pairs) {
    const isStructure = /^(?:title|image|description|date|url)$/i.test(label)
    if (rank < 0.68 || isStructure || text === '' || text === label || text.length > 500) continue
    if (!facts.has(label) && label !== '__proto__') facts.set(label, text)
  }
  return [...facts]
}

/** Those that share words with the question, the nearest first; all when none does. */
function relevant<Item>(items: readonly Item[], asked: ReadonlySet<string>, words: (item: Item) => string[]): Item[] {
  const scored = items.map((item) => ({ item, score: words(item).filter((word) => asked.has(meaning(word))).length }))
  const near = scored.filter(({ score }) => score > 0).sort((a, b) => b.score - a.score)
  return (near.length > 0 ? near : scored).map(({ item }) => item)
}

/** The passages that share most words with the question. */
function answers({ passages }: Scope, asked: ReadonlySet<string>): string[] {
  if (asked.size === 0) return []
  return passages
    .map(({ heading, text }) => {
      const inText = new Set(wordsOf(text.slice(0, 2000)).map(meaning))
      const inHeading = new Set(wordsOf(heading).map(meaning))
      const score = [...asked].reduce(
        (sum, word) => sum + (inText.has(word) ? 1 : 0) + (inHeading.has(word) ? 0.5 : 0),
        0,
      )
      return { text, score: score / asked.size }
    })
    .filter(({ score, text }) => score >= 0.5 && text.length > 20)
    .sort((a, b) => b.score - a.score)
    .slice(0, mostPassages)
    .map(({ text }) => text)
}

const tableOf = ({ label, records }: Collection) => ({
  ...(label !== '' && { caption: label }),
  rows: records.slice(0, mostRecords).map(({ fields }) => fields),
})

const listOf = ({ label, records }: Collection) => ({
  ...(label !== '' && { heading: label }),
  items: records.slice(0, mostRecords).flatMap(({ element }) => (element ? [visibleText(element, 500)] : [])),
})
