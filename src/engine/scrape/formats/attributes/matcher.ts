/**
 * Finds the elements of a page that match CSS selectors, in time linear in the size of the page: each element is visited
 * once, with the results of its ancestors and preceding siblings.
 */
import { type AttributeSelector, parse, type Selector, SelectorType, type Traversal } from 'css-what'
import { classes, type ElementNode, isElement } from '../../../extract/tree.ts'
import { type Place, plainTests, testWithText } from './pseudo-classes.ts'

type Relation = 'child' | 'descendant' | 'adjacent' | 'sibling'

/** Results of an element by the number of the compound selector: 1 if the element matches. */
type Hits = Uint8Array

type Test = (place: Place, hits: Hits) => boolean

/** A part of a selector between two combinators. */
interface Compound {
  readonly tests: readonly Test[]
  /** Required relation to an element that matches an earlier part. */
  readonly after?: { readonly relation: Relation; readonly part: number }
}

/** The relative selectors of `:has()`, and the elements to which a match of each is related. */
interface Relative {
  readonly relation: Relation
  readonly matcher: Matcher
  readonly marked: Set<ElementNode>
}

/** Maximum number of compound selectors of a request: each is compared with all elements of the page. */
const maxCompounds = 200

const relations: ReadonlySet<string> = new Set<Relation>(['child', 'descendant', 'adjacent', 'sibling'])

const isTraversal = (token: Selector): token is Traversal =>
  relations.has(token.type) || token.type === SelectorType.Parent || token.type === SelectorType.ColumnCombinator

/** An element, the results of its selectors, and its position. */
interface Visited {
  readonly element: ElementNode
  readonly hits: Hits
  readonly parent: Ancestor | undefined
  readonly siblings: readonly ElementNode[]
  readonly at: number
}

interface Ancestor {
  readonly element: ElementNode
  readonly hits: Hits
  /** Hits of this element and its ancestors. */
  readonly above: Hits
  readonly parent?: Ancestor | undefined
}

/** Combines the selectors of a request, which are matched together. */
export class Matcher {
  readonly #compounds: Compound[] = []
  readonly #relatives: Relative[] = []
  readonly #count: { compounds: number }

  constructor(count = { compounds: 0 }) {
    this.#count = count
  }

  /** Adds a selector; returns a function that reads its result. @throws Error for an invalid or unsupported selector */
  add(selector: string): (hits: Hits) => boolean {
    const lists = parse(selector)
    if (lists.length === 0) throw new Error('it is empty')
    return this.#anyOf(lists)
  }

  #anyOf(lists: readonly Selector[][]): (hits: Hits) => boolean {
    const last = lists.map((list) => this.#addChain(list))
    return (hits) => last.some((part) => hits[part] === 1)
  }

  /** Adds the parts of a complex selector; returns the number of the last one. */
  #addChain(tokens: readonly Selector[]): number {
    let part = -1
    let relation: Relation | undefined
    let open: Selector[] = []
    const close = () => {
      if (open.length === 0) throw new Error('an element is missing beside a combinator')
      const after = relation && { relation, part }
      const tests = open.map((token) => this.#testOf(token))
      if (++this.#count.compounds > maxCompounds) throw new Error(`there are more than ${maxCompounds} parts`)
      part = this.#compounds.push({ tests, ...(after && { after }) }) - 1
      open = []
    }
    for (const token of tokens) {
      if (!isTraversal(token)) {
        open.push(token)
        continue
      }
      close()
      relation = relationOf(token)
    }
    close()
    return part
  }

  #testOf(token: Selector): Test {
    switch (token.type) {
      case SelectorType.Universal:
        return () => true
      case SelectorType.Tag: {
        const tag = token.name.toLowerCase()
        return ({ element }) => element.tag === tag
      }
      case SelectorType.Attribute:
        return attributeTest(token)
      case SelectorType.Pseudo:
        return this.#pseudoTest(token.name.toLowerCase(), token.data)
      default:
        throw new Error(`${'name' in token ? `::${token.name}` : token.type} is not supported`)
    }
  }

  #pseudoTest(name: string, data: Selector[][] | string | null): Test {
    if (Array.isArray(data)) {
      if (name === 'has') return this.#relativeTest(data)
      const matches = this.#anyOf(data)
      if (/^(?:is|where|matches|any|-webkit-any|-moz-any)$/.test(name)) return (_, hits) => matches(hits)
      if (name === 'not') return (_, hits) => !matches(hits)
    }
    const test = typeof data === 'string' ? testWithText(name, data) : data === null ? plainTests[name] : undefined
    if (!test) throw new Error(`:${name}${typeof data === 'string' ? `(${data})` : ''} is not supported`)
    return test
  }

  #relativeTest(lists: readonly Selector[][]): Test {
    const all = lists.map((list): Relative => {
      const [first] = list
      const leads = first !== undefined && isTraversal(first)
      const inner = leads ? list.slice(1) : list
      if (inner.some(isTraversal)) throw new Error(':has() with several elements is not supported')
      const matcher = new Matcher(this.#count)
      matcher.#addChain(inner)
      return { relation: leads ? relationOf(first) : 'descendant', matcher, marked: new Set() }
    })
    this.#relatives.push(...all)
    return ({ element }) => all.some(({ marked }) => marked.has(element))
  }

  /** Calls `onElement` for each element of a page, in document order, with the results of all selectors. */
  run(root: ElementNode, onElement: (visited: Visited) => void): void {
    for (const relative of this.#relatives) markRelated(root, relative)
    const visit = (list: readonly ElementNode[], parent: Ancestor | undefined): void => {
      const earlier = this.#noHits()
      let previous = earlier
      for (const [at, place] of placesOf(list, parent === undefined).entries()) {
        const { element } = place
        const hits = this.#hitsOf(place, {
          child: parent?.hits ?? this.#noHits(),
          descendant: parent?.above ?? this.#noHits(),
          adjacent: previous,
          sibling: earlier,
        })
        onElement({ element, hits, parent, siblings: list, at })
        if (inPage(element)) {
          const inner = element.children.filter(isElement)
          if (inner.length > 0) visit(inner, { element, hits, above: united(hits, parent?.above), parent })
        }
        previous = hits
        for (let part = 0; part < hits.length; part++) if (hits[part] === 1) earlier[part] = 1
      }
    }
    visit([root], undefined)
  }

  #noHits(): Hits {
    return new Uint8Array(this.#compounds.length)
  }

  #hitsOf(place: Place, related: Readonly<Record<Relation, Hits>>): Hits {
    const hits = this.#noHits()
    // Iterators take several times as long.
    for (let part = 0; part < hits.length; part++) {
      const { tests, after } = this.#compounds[part]!
      if (after && related[after.relation][after.part] !== 1) continue
      if (tests.every((test) => test(place, hits))) hits[part] = 1
    }
    return hits
  }
}

function united(hits: Hits, above: Hits | undefined): Hits {
  if (!above) return hits
  const all = hits.slice()
  for (let part = 0; part < all.length; part++) if (above[part] === 1) all[part] = 1
  return all
}

/** Whether an element's content is part of the page: that of `<template>` and `<noscript>` is not, in a browser. */
const inPage = ({ tag }: ElementNode): boolean => tag !== 'template' && tag !== 'noscript'

function relationOf({ type }: Traversal): Relation {
  if (!relations.has(type)) throw new Error(`the combinator ${type} is not supported`)
  return type as Relation
}

/** Marks the elements to which a match is related. Stops at marked ones, beyond which all are marked. */
function markRelated(root: ElementNode, { relation, matcher, marked }: Relative): void {
  marked.clear()
  matcher.run(root, ({ hits, parent, siblings, at }) => {
    if (hits.at(-1) !== 1) return
    if (relation === 'child') {
      if (parent) marked.add(parent.element)
    } else if (relation === 'descendant') {
      for (let above = parent; above && !marked.has(above.element); above = above.parent) marked.add(above.element)
    } else if (relation === 'adjacent') {
      if (at > 0) marked.add(siblings[at - 1]!)
    } else {
      for (let before = at - 1; before >= 0 && !marked.has(siblings[before]!); before--) marked.add(siblings[before]!)
    }
  })
}

/** Returns the positions of siblings. */
function placesOf(siblings: readonly ElementNode[], isRoot: boolean): Place[] {
  const counts = new Map<string, number>()
  const indexes = siblings.map(({ tag }) => {
    const index = (counts.get(tag) ?? 0) + 1
    counts.set(tag, index)
    return index
  })
  return siblings.map((element, at) => ({
    element,
    isRoot,
    index: at + 1,
    count: siblings.length,
    typeIndex: indexes[at]!,
    typeCount: counts.get(element.tag)!,
  }))
}

/** Attributes whose values HTML compares without regard to case. */
const foldedValues = /^(?:type|rel|lang|dir|method|media|charset|http-equiv|shape|scope|align|valign|hreflang|target)$/

function attributeTest({ name, action, value, ignoreCase }: AttributeSelector): Test {
  const fold = ignoreCase === true || (ignoreCase === null && foldedValues.test(name.toLowerCase()))
  const folded = (text: string) => (fold ? text.toLowerCase() : text)
  const wanted = folded(value)
  const compare = comparisons[action]
  if (!compare) throw new Error(`the comparison "${action}" is not supported`)
  const isClass = name === 'class' && action === 'element' && !fold
  return ({ element }) => {
    if (isClass) return classes(element).includes(wanted)
    const found = attributeNamed(element, name)
    return found !== undefined && compare(folded(found), wanted)
  }
}

const comparisons: Readonly<Record<string, (found: string, wanted: string) => boolean>> = {
  exists: () => true,
  equals: (found, wanted) => found === wanted,
  start: (found, wanted) => wanted !== '' && found.startsWith(wanted),
  end: (found, wanted) => wanted !== '' && found.endsWith(wanted),
  any: (found, wanted) => wanted !== '' && found.includes(wanted),
  element: (found, wanted) => wanted !== '' && !/\s/.test(wanted) && found.split(/\s/).includes(wanted),
  hyphen: (found, wanted) => found === wanted || found.startsWith(`${wanted}-`),
}

/** Returns an attribute by its name in any case: those of SVG have capital letters. */
export const attributeNamed = ({ attributes }: ElementNode, name: string): string | undefined =>
  attributes[name.toLowerCase()] ?? attributes[name]
