/** Reads and evaluates the learnt model: boosted trees and a lexicon, written by the training script. */
import { BaxError } from '../../../core/errors/errors.ts'
import type { Matrix } from './features/features.ts'
import { canWalk, Forest } from './forest.ts'
import { type Lexicon, type Scores, scoresOf } from './features/lexicon.ts'

export interface Trees {
  readonly bias: number
  /** The first node of every tree. */
  readonly roots: Uint32Array
  /** The column that an inner node tests; 0xffff in a leaf. */
  readonly features: Uint16Array
  /** The greatest value that goes left; in a leaf, its value. */
  readonly thresholds: Float32Array
  /** Distance to the right child; the left child is the next node. */
  readonly rights: Uint8Array
}

/** Arrays as stored: base64 of their little-endian values; the nodes of trees are in preorder. */
type Stored<Arrays> = { readonly [Name in keyof Arrays]: Arrays[Name] extends number ? number : string }
type StoredScores = Stored<Omit<Scores, 'starts'>>

/** Version of the form of model.json. */
export const modelVersion = 3

export interface ModelData {
  readonly version: number
  /** The kinds of pages and the trees that detect them. */
  readonly types: Readonly<Record<string, Stored<Trees>>>
  readonly first: Stored<Trees>
  readonly second: Stored<Trees>
  /** Words of class names, and of texts. */
  readonly names: StoredScores
  readonly texts: StoredScores
  /** Names of the columns that the trees test. */
  readonly columns: readonly string[]
  /** Rows of these columns, and the probabilities that both passes give them: a test compares them with the code. */
  readonly golden: { readonly values: string; readonly first: string; readonly second: string }
}

export interface Model {
  readonly lexicon: Lexicon
  readonly types: readonly (readonly [string, Trees])[]
  readonly first: Trees
  readonly second: Trees
}

const leaf = 0xffff

let loading: Promise<Model> | undefined

/** Loads the model shipped with bax, once, on first use. */
export const shippedModel = (): Promise<Model> =>
  (loading ??= import('./model.json', { with: { type: 'json' } }).then((module) =>
    readModel(module.default as ModelData),
  ))

/** Creates a model from its data; the arrays are used as stored. */
export function readModel(data: Omit<ModelData, 'columns' | 'golden'>): Model {
  const { version } = data
  if (version !== modelVersion)
    throw new BaxError('internal_error', `the model has version ${version}, not ${modelVersion}`)
  return {
    lexicon: { names: readScores(data.names), texts: readScores(data.texts) },
    types: Object.entries(data.types).map(([type, stored]) => [type, readTrees(stored)] as const),
    first: readTrees(data.first),
    second: readTrees(data.second),
  }
}

const readScores = ({ hashes, scores }: StoredScores): Scores =>
  scoresOf(new Uint32Array(bytesOf(hashes)), new Int8Array(bytesOf(scores)))

const readTrees = ({ bias, roots, features, thresholds, rights }: Stored<Trees>): Trees => ({
  bias,
  roots: new Uint32Array(bytesOf(roots)),
  features: new Uint16Array(bytesOf(features)),
  thresholds: new Float32Array(bytesOf(thresholds)),
  rights: new Uint8Array(bytesOf(rights)),
})

function bytesOf(base64: string): ArrayBuffer {
  const { buffer, byteOffset, byteLength } = Buffer.from(base64, 'base64')
  return (buffer as ArrayBuffer).slice(byteOffset, byteOffset + byteLength)
}

/** Returns the probability of each row according to the trees. */
export function chancesOf(trees: Trees, matrix: Matrix): Float32Array {
  const forest = matrix.values.length > matrix.width ? forestOf(trees, matrix.width) : undefined
  const scores = forest?.scores(matrix) ?? sumsOf(trees, matrix)
  const chances = new Float32Array(scores.length)
  for (let row = 0; row < chances.length; row++) chances[row] = 1 / (1 + Math.exp(-scores[row]!))
  return chances
}

/** Trees that have been used for a page, and from the second page on in the form that is faster for many rows. */
const forests = new WeakMap<Trees, Forest | 'used once'>()

function forestOf(trees: Trees, width: number): Forest | undefined {
  const known = forests.get(trees)
  if (known instanceof Forest) return known
  // A process that reads a single page is done before a forest is ready.
  const forest = known && canWalk() ? new Forest(trees, width) : 'used once'
  forests.set(trees, forest)
  return forest === 'used once' ? undefined : forest
}

/** Returns the sum of the bias and the leaf of every tree for each row. */
export function sumsOf({ bias, roots, features, thresholds, rights }: Trees, { width, values }: Matrix): Float64Array {
  const scores = new Float64Array(values.length / width)
  for (let row = 0; row < scores.length; row++) {
    const base = row * width
    let score = bias
    for (let tree = 0; tree < roots.length; tree++) {
      let node = roots[tree]!
      for (let feature = features[node]!; feature !== leaf; feature = features[node]!)
        node += values[base + feature]! <= thresholds[node]! ? 1 : rights[node]!
      score += thresholds[node]!
    }
    scores[row] = score
  }
  return scores
}
