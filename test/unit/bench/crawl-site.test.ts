import { describe, expect, test } from 'vitest'
import {
  clientRendered,
  dataOf,
  htmlOf,
  kindOfPage,
  linksOf,
  markerOf,
  pageAt,
  pathOf,
} from '../../bench/crawl/site.ts'

const plan = { pages: 400, staticOnly: false }
const all = Array.from({ length: plan.pages }, (_, at) => at)

describe('the site that crawlers are measured on', () => {
  test('has every kind of page', () => {
    const kinds = new Set(all.map((at) => kindOfPage(at, plan)))
    expect([...kinds].sort()).toEqual(['article', 'bundled', 'completed', 'fetched', 'missing', 'redirect', 'slow'])
  })

  test('tells what is checked only where a reader sees it', () => {
    for (const at of all) {
      const rendered = clientRendered.has(kindOfPage(at, plan))
      expect(htmlOf(at, plan).includes(markerOf(at)), `page ${at}`).toBe(!rendered)
      expect(dataOf(at)).toContain(markerOf(at))
    }
    expect(new Set(all.map(markerOf)).size).toBe(plan.pages)
  })

  test('leads to all of its pages, from pages that are complete as they are sent', () => {
    const found = new Set([0])
    for (const at of found) for (const next of linksOf(at, plan)) found.add(next)
    expect(found.size).toBe(plan.pages)
    for (const at of all) {
      expect(pageAt(pathOf(at, plan))).toBe(at)
      if (linksOf(at, plan).length > 0) expect(kindOfPage(at, plan)).toBe('article')
    }
  })

  test('is complete as sent when that is asked', () => {
    const complete = { ...plan, staticOnly: true }
    for (const at of all) expect(htmlOf(at, complete)).toContain(markerOf(at))
  })
})
