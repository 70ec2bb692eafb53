/** The learnt model: boosted trees and a lexicon, as data that the training script writes. */
import type { Lexicon } from './lexicon.ts'
import type { Matrix } from './features.ts'

/** Trees as they are stored. */
interface StoredTrees {
  readonly bias: number
  readonly trees: number
  /**
   * Base64 of four bytes a node, a tree's nodes in preorder. An inner node: feature (two bytes, little-endian), index
   * of the threshold among the feature's edges, distance to the right child (the left one follows). A leaf: 0xffff,
   * then its value in 1/4096, two bytes, signed.
   */
  readonly nodes: string
}

export interface ModelData {
  readonly version: number
  /** Ascending thresholds per column of the pages' rows. */
  readonly pageEdges: readonly (readonly number[])[]
  /** The same for the blocks' rows: block features, then the kinds of pages, then the second look. */
  readonly blockEdges: readonly (readonly number[])[]
  readonly types: Readonly<Record<string, StoredTrees>>
  readonly first: StoredTrees
  readonly second: StoredTrees
  /** Expected F1 of a threshold. */
  readonly choice: StoredTrees
  readonly choiceEdges: readonly (readonly number[])[]
  /** Words of class names, and of texts, by score. */
  readonly names: Readonly<Record<string, string>>
  readonly texts: Readonly<Record<string, string>>
}

export interface Trees {
  readonly bias: number
  readonly roots: Int32Array
  /** Column to look at; -1 in a leaf. */
  readonly features: Int16Array
  /** Values up to the threshold go left, to the next node. In a leaf: its value. */
  readonly thresholds: Float32Array
  readonly rights: Int32Array
}

export interface Model {
  readonly lexicon: Lexicon
  readonly types: readonly (readonly [string, Trees])[]
  readonly first: Trees
  readonly second: Trees
  readonly choice: Trees
}

const nodeBytes = 4
const leaf = 0xffff
const leafScale = 4096

/** Makes a model from its data. */
export function readModel(data: ModelData): Model {
  const pageEdges = data.pageEdges.map((values) => Float32Array.from(values))
  const edges = data.blockEdges.map((values) => Float32Array.from(values))
  return {
    lexicon: { names: readScores(data.names), texts: readScores(data.texts) },
    types: Object.entries(data.types).map(([type, stored]) => [type, readTrees(stored, pageEdges)] as const),
    first: readTrees(data.first, edges),
    second: readTrees(data.second, edges),
    choice: readTrees(
      data.choice,
      data.choiceEdges.map((values) => Float32Array.from(values)),
    ),
  }
}

function readScores(groups: Readonly<Record<string, string>>): Map<string, number> {
  const scores = new Map<string, number>()
  for (const [score, words] of Object.entries(groups))
    for (const word of words.split(' ')) scores.set(word, Number(score))
  return scores
}

function readTrees({ bias, trees, nodes }: StoredTrees, edges: readonly Float32Array[]): Trees {
  const bytes = atob(nodes)
  const count = bytes.length / nodeBytes
  const features = new Int16Array(count)
  const thresholds = new Float32Array(count)
  const rights = new Int32Array(count)
  const roots = new Int32Array(trees)
  /** Nodes still to come before the tree is whole. */
  let missing = 0
  let tree = 0
  for (let node = 0, at = 0; node < count; node++, at += nodeBytes) {
    if (missing === 0) {
      roots[tree++] = node
      missing = 1
    }
    const feature = bytes.charCodeAt(at) | (bytes.charCodeAt(at + 1) << 8)
    const third = bytes.charCodeAt(at + 2)
    const fourth = bytes.charCodeAt(at + 3)
    if (feature === leaf) {
      features[node] = -1
      thresholds[node] = (((third | (fourth << 8)) << 16) >> 16) / leafScale
      missing--
    } else {
      features[node] = feature
      thresholds[node] = edges[feature]![third]!
      rights[node] = node + fourth
      missing++
    }
  }
  return { bias, roots, features, thresholds, rights }
}

/** The chance that each row is what the trees look for. */
export function chancesOf(
  { bias, roots, features, thresholds, rights }: Trees,
  { width, values }: Matrix,
): Float32Array {
  const chances = new Float32Array(values.length / width)
  for (let row = 0; row < chances.length; row++) {
    const base = row * width
    let score = bias
    for (let tree = 0; tree < roots.length; tree++) {
      let node = roots[tree]!
      for (let feature = features[node]!; feature >= 0; feature = features[node]!)
        node = values[base + feature]! <= thresholds[node]! ? node + 1 : rights[node]!
      score += thresholds[node]!
    }
    chances[row] = 1 / (1 + Math.exp(-score))
  }
  return chances
}
