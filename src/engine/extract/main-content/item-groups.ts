/** Finds corresponding blocks in the items of a list, table or grid, and aligns their probabilities. */
import { attribute, type ElementNode, wordSet } from '../tree.ts'
import type { Block, Box, Segments } from './blocks.ts'
import type { Survey } from './features/survey.ts'

/** Blocks with the same path of elements in the items of a group. */
interface Role {
  readonly blocks: Block[]
  readonly inner: Map<string, Role>
}

/** Minimum number of items of a group. */
const minItems = 3
/** Weight of the mean of a role; the rest is the probability of the block itself. */
const agreement = 0.5

const itemTags = wordSet('li tr dt dd')
/** Elements whose repetition is running text. */
const proseTags = wordSet('p h1 h2 h3 h4 h5 h6 pre blockquote figure')
/** Elements without a meaning of their own: they are items only if they share a class. */
const genericTags = wordSet('div section span')

/** Returns the blocks of each role, at least two, in the outermost groups of items. */
export function rolesOf({ blocks, boxes }: Segments): readonly (readonly Block[])[] {
  const roles: Block[][] = []
  const add = (role: Role): void => {
    if (role.blocks.length > 1) roles.push(role.blocks)
    for (const inner of role.inner.values()) add(inner)
  }
  const visit = ({ boxes: inner }: Box): void => {
    const groups = inner.length < minItems ? [] : groupsOf(inner)
    for (const items of groups) {
      const role = newRole()
      for (const item of items) collect(item, role, blocks)
      add(role)
    }
    const grouped = groups.length > 0 ? new Set(groups.flat()) : undefined
    for (const box of inner) if (!grouped?.has(box)) visit(box)
  }
  const [root] = boxes
  if (root) visit(root)
  return roles
}

/** Returns `chances`, moved towards the mean of each role, which is weighted by words. */
export function alignItems({ roles }: Survey, chances: Float32Array): Float32Array {
  const aligned = chances.slice()
  for (const role of roles) {
    let sum = 0
    let weights = 0
    for (const { index, measure } of role) {
      sum += chances[index]! * (measure.words + 1)
      weights += measure.words + 1
    }
    for (const { index } of role) aligned[index]! += agreement * (sum / weights - chances[index]!)
  }
  return aligned
}

/** Returns the sibling boxes of the same shape, if there are enough of them. */
function groupsOf(siblings: readonly Box[]): Box[][] {
  const groups = new Map<string, Box[]>()
  for (const box of siblings) {
    const shape = itemTags.has(box.element.tag) ? box.element.tag : shapeOf(box.element)
    if (proseTags.has(box.element.tag) || genericTags.has(shape)) continue
    addTo(groups, shape, () => []).push(box)
  }
  return [...groups.values()].filter(({ length }) => length >= minItems)
}

/** Returns the tag of an element and its first two class names without digits. */
export function shapeOf(element: ElementNode): string {
  const value = attribute(element, 'class')
  if (value === '') return element.tag
  const names = value.split(/\s/).filter((name) => name !== '' && !/\d/.test(name))
  return [element.tag, ...names.slice(0, 2)].join('.')
}

const newRole = (): Role => ({ blocks: [], inner: new Map() })

function addTo<Value>(map: Map<string, Value>, key: string, create: () => Value): Value {
  let value = map.get(key)
  if (value === undefined) map.set(key, (value = create()))
  return value
}

function collect({ boxes, first, end }: Box, role: Role, blocks: readonly Block[]): void {
  let at = first
  for (const box of boxes) {
    while (at < box.first) role.blocks.push(blocks[at++]!)
    collect(box, addTo(role.inner, shapeOf(box.element), newRole), blocks)
    at = box.end
  }
  while (at < end) role.blocks.push(blocks[at++]!)
}
