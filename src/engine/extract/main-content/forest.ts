/**
 * Evaluates boosted trees for many rows at once, in WebAssembly: a tree is walked once for 32 rows, a bit each, and
 * every node compares all of them by SIMD. Sums have the same order, and so the same bits, as row by row.
 */
import type { Matrix } from './features/features.ts'
import type { Trees } from './model.ts'

/** Rows walked at the same time. */
const rowsAtOnce = 32
/** Memory: the scores of the rows (f64), a column of values (f32) per feature, the nodes. */
const scoreBytes = 8
const columnBytes = 4 * rowsAtOnce
const columnsAt = scoreBytes * rowsAtOnce
/** A node: the address of its column or 0 in a leaf (i32), its threshold or value (f32), its right child (i32). */
const nodeBytes = 12
const pageBytes = 65_536
const leaf = 0xffff

type Walk = (node: number, rows: number) => void

export class Forest {
  readonly #bias: number
  readonly #roots: Uint32Array
  readonly #width: number
  readonly #walk: Walk
  readonly #scores: Float64Array
  readonly #columns: Float32Array

  /** Copies trees whose columns are less than `width`. */
  constructor({ bias, roots, features, thresholds, rights }: Trees, width: number) {
    const nodesAt = columnsAt + columnBytes * width
    const initial = Math.ceil((nodesAt + nodeBytes * features.length) / pageBytes)
    const memory = new WebAssembly.Memory({ initial })
    const numbers = new Int32Array(memory.buffer)
    const values = new Float32Array(memory.buffer)
    for (let node = 0; node < features.length; node++) {
      const at = nodesAt + nodeBytes * node
      numbers[at / 4] = features[node] === leaf ? 0 : columnsAt + columnBytes * features[node]!
      values[at / 4 + 1] = thresholds[node]!
      numbers[at / 4 + 2] = at + nodeBytes * rights[node]!
    }
    compiled ??= new WebAssembly.Module(moduleBytes())
    const { exports } = new WebAssembly.Instance(compiled, { '': { m: memory } })
    this.#walk = exports['w'] as Walk
    this.#bias = bias
    this.#roots = roots.map((node) => nodesAt + nodeBytes * node)
    this.#width = width
    this.#scores = new Float64Array(memory.buffer, 0, rowsAtOnce)
    this.#columns = new Float32Array(memory.buffer, columnsAt, rowsAtOnce * width)
  }

  /** Returns the score of each row. */
  scores({ width, values }: Matrix): Float64Array {
    const all = new Float64Array(values.length / width)
    for (let first = 0; first < all.length; first += rowsAtOnce) {
      const count = Math.min(rowsAtOnce, all.length - first)
      this.#fill(values.subarray(first * width, (first + count) * width), count, width)
      const rows = count === rowsAtOnce ? -1 : (1 << count) - 1
      for (let tree = 0; tree < this.#roots.length; tree++) this.#walk(this.#roots[tree]!, rows)
      all.set(this.#scores.subarray(0, count), first)
    }
    return all
  }

  #fill(rows: Float32Array, count: number, width: number): void {
    const columns = this.#columns
    this.#scores.fill(this.#bias)
    // In this order the writes are sequential, and the reads stay in the fastest cache.
    for (let column = 0; column < this.#width; column++)
      for (let row = 0, from = column, to = column * rowsAtOnce; row < count; row++, from += width, to++)
        columns[to] = rows[from]!
  }
}

let compiled: WebAssembly.Module | undefined

/** Whether this machine runs WebAssembly with SIMD. */
export const canWalk = (): boolean => typeof WebAssembly === 'object' && WebAssembly.validate(moduleBytes())

/** Instructions of WebAssembly; loads and stores are followed by the binary logarithm of their alignment, and an offset. */
const [loop, whenTrue, end, branchWhenTrue, leave, call] = [0x03, 0x04, 0x0b, 0x0d, 0x0f, 0x10]
const [get, set, tee, constant] = [0x20, 0x21, 0x22, 0x41]
const [load, loadF32, loadF64, storeF64] = [0x28, 0x2a, 0x2b, 0x39]
const [isZero, trailingZeros, add, subtract, and, or, xor, shiftLeft] = [0x45, 0x68, 0x6a, 0x6b, 0x71, 0x72, 0x73, 0x74]
const [addF64, toF64] = [0xa0, 0xbb]
/** Instructions on vectors: four numbers, or their comparisons narrowed to 16 and 8 bits. */
const [load128, splat, notAbove, bitmask, narrow16, narrow32] = [[0], [0x13], [0x45], [0x64], [0x65], [0x85, 1]].map(
  (code) => [0xfd, ...code],
) as [number[], number[], number[], number[], number[], number[]]
/** Parameters and variables of the function, and types. */
const [node, rows, column, left, threshold] = [0, 1, 2, 3, 4]
const [i32, v128, none] = [0x7f, 0x7b, 0x40]

/** Returns a module that imports a memory, and exports the function `w`: see `walk`. */
function moduleBytes(): Uint8Array<ArrayBuffer> {
  const section = (id: number, content: readonly number[]) => [id, ...leb(content.length), ...content]
  const locals = [2, 2, i32, 1, v128]
  const body = [...locals, ...walk(), end]
  const header = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]
  return Uint8Array.from([
    ...header,
    ...section(1, [1, 0x60, 2, i32, i32, 0]),
    // The memory is named "m", of a module with an empty name.
    ...section(2, [1, 0, 1, 0x6d, 2, 0, 1]),
    ...section(3, [1, 0]),
    // The function is named "w".
    ...section(7, [1, 1, 0x77, 0, 0]),
    ...section(10, [1, ...leb(body.length), ...body]),
  ])
}

/**
 * Returns the function `(node, rows)`, which adds the values of the leaves that the rows reach to their scores: in a
 * leaf for each row, else by calling itself for the rows of each child, unless there are none.
 */
function walk(): number[] {
  const address = [get, rows, trailingZeros, constant, 3, shiftLeft]
  const value = [get, node, loadF32, 2, 4, toF64]
  const addValue = [...address, ...address, loadF64, 3, 0, ...value, addF64, storeF64, 3, 0]
  const nextRow = [get, rows, get, rows, constant, 1, subtract, and, tee, rows, branchWhenTrue, 0]
  const inLeaf = [loop, none, ...addValue, ...nextRow, end, leave]
  const callWith = (child: readonly number[], mask: number) => [whenTrue, none, ...child, get, mask, call, 0, end]
  const orLeaf = [get, node, load, 2, 0, tee, column, isZero, whenTrue, none, ...inLeaf, end]
  const toThreshold = [get, node, loadF32, 2, 4, ...splat, set, threshold]
  const allBits = [...notGreater(0), ...notGreater(16), constant, 16, shiftLeft, or]
  const toLeft = [get, rows, and, tee, left, ...callWith([get, node, constant, nodeBytes, add], left)]
  const toRight = [get, rows, get, left, xor, tee, rows, ...callWith([get, node, load, 2, 8], rows)]
  return [...orLeaf, ...toThreshold, ...allBits, ...toLeft, ...toRight]
}

/** Returns the bits of the 16 rows from `first` whose values are not greater than the threshold. */
function notGreater(first: number): number[] {
  const four = (row: number) => [get, column, ...load128, 2, ...leb(4 * row), get, threshold, ...notAbove]
  const eight = (row: number) => [...four(row), ...four(row + 4), ...narrow32]
  return [...eight(first), ...eight(first + 8), ...narrow16, ...bitmask]
}

/** Encodes an unsigned number of up to 14 bits. */
const leb = (number: number): number[] => (number < 128 ? [number] : [(number & 127) | 128, number >> 7])
