/** The measure of facts and noise in Markdown, and that bax keeps those of small pages. */
import { describe, expect, test } from 'vitest'
import { isGood, measure } from '../../../scripts/train/facts.js'
import { extractMarkdown } from '../../../src/engine/scrape/extract-file.ts'

const page = { facts: ['1 kg plums', 'Halve the plums.'], site: ['All recipes', 'Privacy policy'] }

describe('the measure of facts', () => {
  test('counts the facts that are in the Markdown word for word, whatever their marks', () => {
    expect(measure('# Jam\n\n- **1 kg** [plums](https://example.com/plums)\n\nHalve the plums.', page).kept).toBe(2)
    expect(measure('- 1 kg of plums\n\n[other](https://example.com/halve-the-plums)', page).kept).toBe(0)
  })

  test('takes the words in lines of the site as noise', () => {
    expect(measure('Boil it.\n\n[Privacy policy](/privacy)\n', page).noise).toBe(0.5)
    expect(measure('Read our privacy policy.', page).noise).toBe(0)
    expect(measure('', page)).toEqual({ kept: 0, noise: 0 })
  })

  test('is good with every fact and at most 5 % of noise', () => {
    expect(isGood({ kept: 2, noise: 0.05 }, page)).toBe(true)
    expect(isGood({ kept: 2, noise: 0.06 }, page)).toBe(false)
    expect(isGood({ kept: 1, noise: 0 }, page)).toBe(false)
  })

  test('is good for what bax keeps of a recipe, a shop and a forum', async () => {
    const nav = '<nav><a href="/all">All pages</a></nav>'
    const around = (title: string, body: string) =>
      `<html><head><title>${title} - Site</title></head><body>${nav}<main>${body}</main><footer>Privacy policy</footer></body></html>`
    const text =
      'We made it every summer, with fruit of the old tree behind the house, and it lasted until the spring. '
    const post = (name: string, words: string) =>
      `<div class="post"><div class="author">${name}</div><div class="content"><p>${words}</p></div></div>`
    const pages = [
      {
        html: around(
          'Plum jam',
          `<h1>Plum jam</h1><p>${text.repeat(3)}</p><h2>Ingredients</h2><ul><li>1 kg plums</li><li>250 g sugar</li><li>1 lemon</li></ul><h2>Directions</h2><ol><li>Halve the plums.</li><li>Boil them.</li></ol>`,
        ),
        facts: ['Plum jam', '1 kg plums', '250 g sugar', '1 lemon', 'Halve the plums.', 'Boil them.'],
      },
      {
        html: around(
          'Copper kettle',
          `<h1>Copper kettle</h1><p>€ 79,90</p><button>Add to cart</button><p>${text.repeat(2)}</p>`,
        ),
        facts: ['Copper kettle', '€ 79,90'],
      },
      {
        html: around(
          'Which plums for jam?',
          `<h1>Which plums for jam?</h1>${post('Ann', `${text}Which plums did you take?`)}${post('Ben', `${text}Damsons, they have the most flavor.`)}`,
        ),
        facts: ['Which plums for jam?', 'Which plums did you take?', 'Damsons, they have the most flavor.'],
      },
    ]
    for (const { html, facts } of pages) {
      const { markdown } = await extractMarkdown(Buffer.from(html), { onlyMain: true, headline: true })
      const truth = { facts, site: ['All pages', 'Privacy policy'] }
      expect(measure(markdown, truth)).toEqual({ kept: facts.length, noise: 0 })
    }
  })
})
