/** Scripts of a session that run in every new document before the document's own scripts. */
import type { BrowserContext } from 'playwright'
import { BaxError } from '../../../core/errors/errors.ts'
import { limits } from '../../../core/limits/limits.ts'
import type { InitScripts } from '../../../core/operation/page-control.ts'
import { oncePer } from '../../../core/once-per.ts'

/** Returns the scripts of a context; those of a user's browser last until the engine disconnects from it. */
export const initScriptsOf = oncePer((context: BrowserContext) => new ContextScripts(context))

interface Added {
  readonly id: string
  readonly chars: number
  readonly dispose: () => Promise<void>
}

class ContextScripts implements InitScripts {
  readonly #context: BrowserContext
  readonly #scripts: Added[] = []
  #added = 0

  constructor(context: BrowserContext) {
    this.#context = context
  }

  /** @throws BaxError `invalid_data` beyond a limit. */
  async add(source: string): Promise<string> {
    const { scripts: most, totalChars } = limits.initScripts
    const chars = this.#scripts.reduce((sum, script) => sum + script.chars, source.length)
    const excess =
      this.#scripts.length >= most
        ? `a session can have at most ${most} init scripts`
        : chars > totalChars
          ? `all init scripts together may have at most ${totalChars} characters, not ${chars}`
          : undefined
    if (excess !== undefined) {
      throw new BaxError('invalid_data', excess, { hint: 'remove scripts with remove_init_script' })
    }
    const script = await this.#context.addInitScript({ content: source })
    const id = `script_${++this.#added}`
    this.#scripts.push({ id, chars: source.length, dispose: () => script.dispose() })
    return id
  }

  /** @throws BaxError `invalid_data` for an unknown ID. */
  async remove(id: string | undefined): Promise<string[]> {
    const removed = this.#scripts.filter((script) => id === undefined || script.id === id)
    if (id !== undefined && removed.length === 0) {
      throw new BaxError('invalid_data', `no init script has the ID ${JSON.stringify(id)}`)
    }
    for (const script of removed) {
      await script.dispose()
      this.#scripts.splice(this.#scripts.indexOf(script), 1)
    }
    return removed.map((script) => script.id)
  }
}
