/**
 * Evaluates boosted trees for many rows at once, in WebAssembly: a tree is walked once for 32 rows, a bit each, and
 * every node compares all of them by SIMD. Sums have the same order, and so the same bits, as row by row.
 */
import type { Matrix } from './features/features.ts'
import type { Trees } from './model.ts'

/** Rows walked at the same time. */
const rowsAtOnce = 32
/** Memory: the scores of the rows (f64), a column of values (f32) per feature, the same values by rows, nodes, roots. */
const scoreBytes = 8
const columnBytes = 4 * rowsAtOnce
const columnsAt = scoreBytes * rowsAtOnce
/** A node: the address of its column or 0 in a leaf (i32), its threshold or value (f32), its right child (i32). */
const nodeBytes = 12
const pageBytes = 65_536
const leaf = 0xffff

type WalkAll = (firstRoot: number, endOfRoots: number, rows: number) => void
type Fill = (rows: number, rowBytes: number) => void

export class Forest {
  readonly #bias: number
  /** Addresses of the first root, and of the end of the roots. */
  readonly #roots: readonly [number, number]
  readonly #width: number
  readonly #walkAll: WalkAll
  readonly #fill: Fill
  readonly #scores: Float64Array
  readonly #rows: Float32Array

  /** Copies trees for rows of this width. */
  constructor({ bias, roots, features, thresholds, rights }: Trees, width: number) {
    const rowsAt = columnsAt + columnBytes * width
    const nodesAt = rowsAt + columnBytes * width
    const rootsAt = nodesAt + nodeBytes * features.length
    const initial = Math.ceil((rootsAt + 4 * roots.length) / pageBytes)
    const memory = new WebAssembly.Memory({ initial })
    const numbers = new Int32Array(memory.buffer)
    const values = new Float32Array(memory.buffer)
    for (let node = 0; node < features.length; node++) {
      const at = nodesAt + nodeBytes * node
      numbers[at / 4] = features[node] === leaf ? 0 : columnsAt + columnBytes * features[node]!
      values[at / 4 + 1] = thresholds[node]!
      numbers[at / 4 + 2] = at + nodeBytes * rights[node]!
    }
    for (const [at, node] of roots.entries()) numbers[rootsAt / 4 + at] = nodesAt + nodeBytes * node
    compiled ??= new WebAssembly.Module(moduleBytes())
    const { exports } = new WebAssembly.Instance(compiled, { '': { m: memory } })
    this.#walkAll = exports['w'] as WalkAll
    this.#fill = exports['f'] as Fill
    this.#bias = bias
    this.#roots = [rootsAt, rootsAt + 4 * roots.length]
    this.#width = width
    this.#scores = new Float64Array(memory.buffer, 0, rowsAtOnce)
    this.#rows = new Float32Array(memory.buffer, rowsAt, rowsAtOnce * width)
  }

  /** Returns the score of each row. */
  scores({ values }: Matrix): Float64Array {
    const width = this.#width
    const all = new Float64Array(values.length / width)
    const [firstRoot, endOfRoots] = this.#roots
    for (let first = 0; first < all.length; first += rowsAtOnce) {
      const count = Math.min(rowsAtOnce, all.length - first)
      this.#rows.set(values.subarray(first * width, (first + count) * width))
      this.#fill(count, 4 * width)
      this.#scores.fill(this.#bias)
      const rows = count === rowsAtOnce ? -1 : (1 << count) - 1
      if (firstRoot < endOfRoots) this.#walkAll(firstRoot, endOfRoots, rows)
      all.set(this.#scores.subarray(0, count), first)
    }
    return all
  }
}

let compiled: WebAssembly.Module | undefined

/** Whether this machine runs WebAssembly with SIMD. */
export const canWalk = (): boolean => typeof WebAssembly === 'object' && WebAssembly.validate(moduleBytes())

/** Instructions of WebAssembly; loads and stores are followed by the binary logarithm of their alignment, and an offset. */
const [loop, whenTrue, end, branch, branchWhenTrue, leave, call] = [0x03, 0x04, 0x0b, 0x0c, 0x0d, 0x0f, 0x10]
const [get, set, tee, constant] = [0x20, 0x21, 0x22, 0x41]
const [load, store, loadF32, loadF64, storeF64] = [0x28, 0x36, 0x2a, 0x2b, 0x39]
const [isZero, trailingZeros, add, subtract, and, or, xor, shiftLeft] = [0x45, 0x68, 0x6a, 0x6b, 0x71, 0x72, 0x73, 0x74]
const [notEqual, addF64, toF64] = [0x47, 0xa0, 0xbb]
/** Instructions on vectors: four numbers, or their comparisons narrowed to 16 and 8 bits. */
const [load128, splat, notAbove, bitmask, narrow16, narrow32] = [[0], [0x13], [0x45], [0x64], [0x65], [0x85, 1]].map(
  (code) => [0xfd, ...code],
) as [number[], number[], number[], number[], number[], number[]]
/** Parameters and variables of the function, and types. */
const [node, rows, column, left, threshold] = [0, 1, 2, 3, 4]
const [i32, v128, none] = [0x7f, 0x7b, 0x40]

/** Returns a module that imports a memory, and exports the functions `w` and `f`: see `walkAll` and `fill`. */
function moduleBytes(): Uint8Array<ArrayBuffer> {
  const section = (id: number, content: readonly number[]) => [id, ...leb(content.length), ...content]
  const body = (content: readonly number[]) => [...leb(content.length + 1), ...content, end]
  const functions = [
    ...body([2, 2, i32, 1, v128, ...walk()]),
    ...body([1, 5, i32, ...fill()]),
    ...body([0, ...walkAll()]),
  ]
  const header = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]
  return Uint8Array.from([
    ...header,
    ...section(1, [2, 0x60, 2, i32, i32, 0, 0x60, 3, i32, i32, i32, 0]),
    // The memory is named "m", of a module with an empty name.
    ...section(2, [1, 0, 1, 0x6d, 2, 0, 1]),
    ...section(3, [3, 0, 0, 1]),
    // The functions are named "w" and "f".
    ...section(7, [2, 1, 0x77, 0, 2, 1, 0x66, 0, 1]),
    ...section(10, [3, ...functions]),
  ])
}

/**
 * Returns the function `(node, rows)`, which adds the values of the leaves that the rows reach to their scores: in a
 * leaf for each row, else by calling itself for the rows of the left child and continuing with those of the right one,
 * unless there are none.
 */
function walk(): number[] {
  const address = [get, rows, trailingZeros, constant, 3, shiftLeft]
  const value = [get, node, loadF32, 2, 4, toF64]
  const addValue = [...address, ...address, loadF64, 3, 0, ...value, addF64, storeF64, 3, 0]
  const nextRow = [get, rows, get, rows, constant, 1, subtract, and, tee, rows, branchWhenTrue, 0]
  const inLeaf = [loop, none, ...addValue, ...nextRow, end, leave]
  const callWithLeft = [whenTrue, none, get, node, constant, nodeBytes, add, get, left, call, 0, end]
  const continueWithRight = [whenTrue, none, get, node, load, 2, 8, set, node, branch, 1, end]
  const orLeaf = [get, node, load, 2, 0, tee, column, isZero, whenTrue, none, ...inLeaf, end]
  const toThreshold = [get, node, loadF32, 2, 4, ...splat, set, threshold]
  const allBits = [...notGreater(0), ...notGreater(16), constant, 16, shiftLeft, or]
  const toLeft = [get, rows, and, tee, left, ...callWithLeft]
  const toRight = [get, rows, get, left, xor, tee, rows, ...continueWithRight]
  return [loop, none, ...orLeaf, ...toThreshold, ...allBits, ...toLeft, ...toRight, end]
}

/** Returns the function `(root, endOfRoots, rows)`, which calls `walk` for the tree of every root. */
function walkAll(): number[] {
  const [root, endOfRoots, rows] = [0, 1, 2]
  const walkTree = [get, root, load, 2, 0, get, rows, call, 0]
  const nextRoot = [get, root, constant, 4, add, tee, root, get, endOfRoots, notEqual, branchWhenTrue, 0]
  return [loop, none, ...walkTree, ...nextRoot, end]
}

/** Returns the bits of the 16 rows from `first` whose values are not greater than the threshold. */
function notGreater(first: number): number[] {
  const four = (row: number) => [get, column, ...load128, 2, ...leb(4 * row), get, threshold, ...notAbove]
  const eight = (row: number) => [...four(row), ...four(row + 4), ...narrow32]
  return [...eight(first), ...eight(first + 8), ...narrow16, ...bitmask]
}

/**
 * Returns the function `(count, rowBytes)`, which copies the rows after the columns into the columns, one column after
 * another, in a third of the time that JavaScript takes.
 */
function fill(): number[] {
  const [count, rowBytes, from, to, read, write, last] = [0, 1, 2, 3, 4, 5, 6]
  const advance = (pointer: number, step: readonly number[]) => [get, pointer, ...step, add]
  const copy = [get, write, get, read, load, 2, 0, store, 2, 0]
  const nextRow = [...advance(read, [get, rowBytes]), set, read, ...advance(write, [constant, 4]), tee, write]
  const untilLast = [get, to, get, count, constant, 2, shiftLeft, add, notEqual, branchWhenTrue, 0]
  const column = [loop, none, ...copy, ...nextRow, ...untilLast, end]
  const nextColumn = [
    ...advance(to, [constant, ...leb(columnBytes)]),
    set,
    to,
    ...advance(from, [constant, 4]),
    tee,
    from,
  ]
  const firstRow = [constant, ...leb(columnsAt), get, rowBytes, constant, 5, shiftLeft, add]
  const start = [...firstRow, tee, from, get, rowBytes, add, set, last, constant, ...leb(columnsAt), set, to]
  const columns = [loop, none, get, from, set, read, get, to, set, write, ...column, ...nextColumn]
  return [...start, ...columns, get, last, notEqual, branchWhenTrue, 0, end]
}

/** Encodes an unsigned number of up to 14 bits. */
const leb = (number: number): number[] => (number < 128 ? [number] : [(number & 127) | 128, number >> 7])
