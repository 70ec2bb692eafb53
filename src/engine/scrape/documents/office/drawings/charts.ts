/** Converts charts of office documents to tables of their stored values. */
import { limits } from '../../../../../core/limits/limits.ts'
import type { ElementNode, TreeNode } from '../../../../extract/tree.ts'
import { element } from '../../document.ts'
import { cellFormat } from '../cell-format.ts'
import { tableOf } from '../inline.ts'
import { OfficeError } from '../office-error.ts'
import { all, child, first, textOf } from '../office-xml.ts'
import { squeeze } from '../../../../../core/text/pieces.ts'

interface Series {
  readonly name: string
  readonly categories: ReadonlyMap<number, string>
  readonly values: ReadonlyMap<number, string>
}

/** Returns the title of a chart, without the placeholder of a title that it does not store. */
export const chartTitle = (part: ElementNode | undefined): string => titleOf(child(first(part, 'chart'), 'title'))

/** Returns the title of a chart, and tables with a column for each series. */
export function chartNodes(part: ElementNode | undefined): TreeNode[] {
  const title = chartTitle(part)
  const plot = first(part, 'plotArea')
  const series = [...all(plot, 'ser').map(seriesOf), ...extendedSeries(part)]
  const heading = titleOf(child(child(plot, 'catAx') ?? child(plot, 'dateAx') ?? first(plot, 'valAx'), 'title'))
  return [
    ...(title ? [element('p', {}, title)] : []),
    ...groupsOf(series).flatMap((group) => chartTable(group, heading)),
  ]
}

/** Returns the text of a title: paragraphs of its own, or the stored value of a cell. */
function titleOf(title: ElementNode | undefined): string {
  const paragraphs = all(title, 'p').map((one) => all(one, 't').map(textOf).join(''))
  const lines = paragraphs.length > 0 ? paragraphs : all(title, 'v').map(textOf)
  return squeeze(lines.join(' '))
}

function seriesOf(node: ElementNode): Series {
  const name = child(node, 'tx')
  const values = pointsOf(child(node, 'val') ?? child(node, 'yVal'))
  return {
    name: [...pointsOf(name).values()].join(' ') || textOf(first(name, 'v')).trim(),
    categories: categoriesOf(child(node, 'cat') ?? child(node, 'xVal')),
    values: withSizes(values, pointsOf(child(node, 'bubbleSize'))),
  }
}

const withSizes = (values: ReadonlyMap<number, string>, sizes: ReadonlyMap<number, string>): Map<number, string> =>
  new Map([...values].map(([at, value]) => [at, sizes.has(at) ? `${value} (${sizes.get(at)})` : value]))

/** Returns stored texts or formatted numbers by index. */
function pointsOf(node: ElementNode | undefined): Map<number, string> {
  const code = textOf(first(node, 'formatCode')).trim()
  const format = cellFormat(0, code === '' ? undefined : code, false)
  const isNumber = first(node, 'numCache') !== undefined || first(node, 'numLit') !== undefined
  return new Map(
    all(node, 'pt').map((point, at) => {
      const value = textOf(child(point, 'v')).trim()
      const shown = isNumber && value !== '' && Number.isFinite(Number(value)) ? format(Number(value)) : value
      return [indexOf(point, at), shown.trim()]
    }),
  )
}

const indexOf = ({ attributes: { idx } }: ElementNode, at: number): number =>
  /^\d{1,9}$/.test(idx ?? '') ? Number(idx) : at

/** Returns categories; of several levels, each name of an outer one applies until the next. */
function categoriesOf(node: ElementNode | undefined): Map<number, string> {
  const levels = all(node, 'lvl').map(pointsOf)
  const [inner, ...outer] = levels
  if (!inner) return pointsOf(node)
  const sorted = outer.map((level) => [...level].toSorted(([a], [b]) => a - b))
  const outerName = (level: readonly (readonly [number, string])[], at: number) =>
    level.findLast(([from]) => from <= at)?.[1] ?? ''
  return new Map(
    [...inner].map(([at, name]) => [
      at,
      [...sorted.toReversed().map((level) => outerName(level, at)), name].filter(Boolean).join(' '),
    ]),
  )
}

/** Returns the series of chart types since Office 2016, such as waterfalls and funnels. */
function extendedSeries(part: ElementNode | undefined): Series[] {
  const data = new Map(all(first(part, 'chartData'), 'data').map((one) => [one.attributes['id'], one]))
  return all(first(part, 'plotArea'), 'series').flatMap((node) => {
    const own = data.get(child(node, 'dataId')?.attributes['val'])
    if (!own) return []
    const points = (dimension: ElementNode | undefined) =>
      new Map(all(dimension, 'pt').map((point, at) => [indexOf(point, at), textOf(point).trim()]))
    return [
      {
        name: textOf(first(child(node, 'tx'), 'v')).trim(),
        categories: points(child(own, 'strDim')),
        values: points(child(own, 'numDim')),
      },
    ]
  })
}

/** Groups series with the same categories; a series without any has those of the first. */
function groupsOf(series: readonly Series[]): Series[][] {
  const groups = new Map<string, Series[]>()
  const keyOf = ({ categories }: Series) => JSON.stringify([...categories])
  for (const one of series) {
    const key = keyOf(one.categories.size === 0 ? series[0]! : one)
    groups.set(key, [...(groups.get(key) ?? []), one])
  }
  return [...groups.values()]
}

function chartTable(series: readonly Series[], heading: string): TreeNode[] {
  const indexes = [
    ...new Set(series.flatMap(({ categories, values }) => [...categories.keys(), ...values.keys()])),
  ].toSorted((a, b) => a - b)
  if (indexes.length * (series.length + 1) > limits.office.cells)
    throw new OfficeError('large', `a chart has more than ${limits.office.cells} values`)
  const cell = (text: string | undefined): TreeNode[] => (text ? [{ text }] : [])
  const categories = series[0]!.categories
  const head = [cell(heading), ...series.map(({ name }) => cell(name))]
  const rows = indexes.map((at) => [
    cell(categories.get(at) ?? String(at + 1)),
    ...series.map(({ values }) => cell(values.get(at))),
  ])
  return rows.length > 0 ? tableOf([head, ...rows]) : []
}
