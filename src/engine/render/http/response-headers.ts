/** Headers of an answer by their names; the global `Headers` would load all of fetch, a tenth of a second of a cold start. */
export class AnswerHeaders {
  readonly #values = new Map<string, string[]>()

  constructor(pairs: Iterable<readonly [name: string, value: string]>) {
    for (const [name, value] of pairs) {
      const key = name.toLowerCase()
      this.#values.set(key, [...(this.#values.get(key) ?? []), value])
    }
  }

  /** All values of a name, joined as HTTP has it; null when there is none. */
  get(name: string): string | null {
    return this.#values.get(name.toLowerCase())?.join(', ') ?? null
  }

  /** Names in lower case, with their values joined. */
  pairs(): [name: string, value: string][] {
    return [...this.#values].map(([name, values]) => [name, values.join(', ')])
  }

  all(name: string): readonly string[] {
    return this.#values.get(name.toLowerCase()) ?? []
  }
}
