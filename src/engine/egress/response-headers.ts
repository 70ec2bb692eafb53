/** Response headers. The global `Headers` would load all of fetch, which takes a tenth of a second at a cold start. */
export class ResponseHeaders {
  readonly #values = new Map<string, string[]>()

  constructor(pairs: Iterable<readonly [name: string, value: string]>) {
    for (const [name, value] of pairs) {
      const key = name.toLowerCase()
      this.#values.set(key, [...(this.#values.get(key) ?? []), value])
    }
  }

  /** Returns all values of a header, joined with commas; null if it is missing. */
  get(name: string): string | null {
    return this.#values.get(name.toLowerCase())?.join(', ') ?? null
  }

  /** Returns lower-case names with their joined values. */
  pairs(): [name: string, value: string][] {
    return [...this.#values].map(([name, values]) => [name, values.join(', ')])
  }

  /** Returns a copy without one of the headers. */
  without(name: string): ResponseHeaders {
    const left = [...this.#values].filter(([key]) => key !== name.toLowerCase())
    return new ResponseHeaders(left.flatMap(([key, values]) => values.map((value) => [key, value] as const)))
  }

  all(name: string): readonly string[] {
    return this.#values.get(name.toLowerCase()) ?? []
  }
}
