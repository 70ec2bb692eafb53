/** Quotations and links in posts, and requests to readers. */
import { describe, expect, test } from 'vitest'
import { treeFromHtml } from '../../../src/engine/extract/html-tree.ts'
import type { Block } from '../../../src/engine/extract/main-content/blocks.ts'
import { surveyPage } from '../../../src/engine/extract/main-content/features/survey.ts'
import type { Survey } from '../../../src/engine/extract/main-content/features/survey.ts'
import { shippedModel } from '../../../src/engine/extract/main-content/model.ts'
import { withWholePosts } from '../../../src/engine/extract/main-content/posts.ts'
import { withQuotes } from '../../../src/engine/extract/main-content/quotes.ts'
import { withoutRequests } from '../../../src/engine/extract/main-content/requests.ts'

const { lexicon } = await shippedModel()
const textsOf = (blocks: readonly Block[]) => blocks.map(({ text }) => text)
const surveyOf = (body: string): Survey => surveyPage(treeFromHtml(`<body>${body}</body>`, '').root, '', lexicon)

describe('quotations', () => {
  const quote = '<blockquote><p>Ann said:</p><p>Is it an OLED display?</p></blockquote>'
  const posts = `<div><p>Is it an OLED display?</p></div><div>${quote}<p>No, it is not.</p></div>`
  const kept = (body: string, ...texts: string[]) => {
    const survey = surveyOf(body)
    return textsOf(
      withQuotes(
        survey,
        survey.segments.blocks.filter(({ text }) => texts.includes(text)),
      ),
    )
  }

  test('are kept in posts that are kept, though they repeat another one', () => {
    expect(kept(posts, 'No, it is not.')).toEqual(['Ann said:', 'Is it an OLED display?', 'No, it is not.'])
    const named = posts.replace('<blockquote>', '<div class="quote">').replace('</blockquote>', '</div>')
    expect(kept(named, 'No, it is not.')).toContain('Ann said:')
  })

  test('are dropped with their posts', () => {
    expect(kept(posts)).toEqual([])
  })
})

describe('posts', () => {
  const link = '<p><a href="https://example.com/a">example.com/a</a></p>'
  const kept = (body: string, ...texts: string[]) => {
    const survey = surveyOf(body)
    return textsOf(
      withWholePosts(
        survey,
        survey.segments.blocks.filter(({ text }) => texts.includes(text)),
      ),
    )
  }

  test.each([
    ['a paragraph', link],
    ['a list', '<ul><li><a href="https://example.com/a">example.com/a</a></li></ul>'],
    ['a preview', '<div class="card"><h5><a href="https://example.com/a">example.com/a</a></h5></div>'],
  ])('are kept with links in %s between their sentences', (_, part) => {
    const post = `<div><p>I found this page about it.</p>${part}<p>It explains the rest.</p></div>`
    expect(kept(post, 'I found this page about it.', 'It explains the rest.')).toContain('example.com/a')
  })

  test('are kept with the paragraphs at their end, but not with the buttons and links below', () => {
    const post = `<div><p>The main site seems to be this one:</p>${link}<p>Ann</p><button>Like</button><ul><li><a href="/r">Report</a></li></ul></div>`
    expect(kept(post, 'The main site seems to be this one:')).toEqual([
      'The main site seems to be this one:',
      'example.com/a',
      'Ann',
    ])
  })

  test('do not make the box around them a post', () => {
    const post = '<div><h4>Ann</h4><p>I found this page about it, and it explains everything.</p></div>'
    const lines = ['Welcome to this thread.', 'I found this page about it, and it explains everything.']
    expect(kept(`<div><p>Welcome to this thread.</p>${post}</div>`, ...lines)).toEqual(lines)
  })

  test('are left to the model when less than half of them is kept, or none', () => {
    const post = `<div><p>Look:</p>${link}<p>A long signature that is below every post of its author.</p></div>`
    expect(kept(post, 'Look:')).toEqual(['Look:'])
    expect(kept(post)).toEqual([])
  })
})

describe('requests to readers', () => {
  const text = `<p>${'A sentence about plums and how to cook them. '.repeat(20)}</p>`
  const kept = (body: string) => textsOf(withoutRequests(surveyOf(body).segments.blocks))

  test.each([
    'This post may contain affiliate links, for which I receive a commission.',
    'If you made it, leave a comment and a rating below!',
    'Please give it a star rating.',
    'Follow me on Instagram for more.',
    'Tag me on Instagram.',
    'Email this recipe',
  ])('are dropped: %s', (request) => {
    expect(kept(`${text}<p>${request}</p>`)).toHaveLength(1)
  })

  test.each([
    'Add a comment below the function to explain it.',
    'An affiliate link earns its owner money.',
    'Follow the instructions on the package.',
    'The reviews of the film leave us cold.',
  ])('are no sentences about other things: %s', (sentence) => {
    expect(kept(`${text}<p>${sentence}</p>`)).toContain(sentence)
  })

  test('are kept on a page about them', () => {
    const page = '<p>Leave a comment below.</p><p>Follow us on our way to the station.</p>'
    expect(kept(page)).toHaveLength(2)
  })
})
