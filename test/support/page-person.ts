/** A person who uses a page through Playwright, as a recording sees it. */
import type { Locator, Page } from 'playwright'

/** A page in the hands of a person, who waits for what appears. */
export class Person {
  readonly page: Page
  constructor(page: Page) {
    this.page = page
  }

  async tap(target: Locator): Promise<void> {
    await target.click()
  }

  async drag(from: Locator, to: Locator): Promise<void> {
    const [start, end] = [await this.#middleOf(from), await this.#middleOf(to)]
    await this.page.mouse.move(start.x, start.y)
    await this.page.mouse.down()
    await this.page.mouse.move(end.x, end.y, { steps: 12 })
    // Pages that place the element between two moves have drawn something then.
    await this.page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))')
    await this.page.mouse.move(end.x, end.y)
    await this.page.mouse.up()
  }

  async type(text: string): Promise<void> {
    await this.page.keyboard.type(text)
  }

  /** Chooses an item of an open list, and waits until it is closed if `closes`. */
  async choose(item: Locator, closes = true): Promise<void> {
    await this.tap(item)
    if (closes) await item.waitFor({ state: 'hidden' })
  }

  async #middleOf(target: Locator): Promise<{ x: number; y: number }> {
    // Opening lists move.
    await target.hover()
    const { x, y, width, height } = (await target.boundingBox())!
    return { x: x + width / 2, y: y + height / 2 }
  }
}
