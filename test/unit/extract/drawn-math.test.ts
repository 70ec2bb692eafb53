/** Formulas that KaTeX and MathJax have drawn, on pages without TeX and MathML. */
import { describe, expect, test } from 'vitest'
import { treeFromHtml } from '../../../src/engine/extract/html-tree.ts'
import { prune } from '../../../src/engine/extract/main-content/prune.ts'
import { segment } from '../../../src/engine/extract/main-content/blocks.ts'
import { toMarkdown } from '../../../src/engine/extract/markdown.ts'

const markdown = (html: string): string => toMarkdown(treeFromHtml(`<body>${html}</body>`, '')).trim()

/** Stacks parts as KaTeX does: the lowest first, each with the height of its strut and its distance from the top. */
const stack = (...lines: [up: number, html: string][]): string =>
  `<span class="vlist-t"><span class="vlist-r"><span class="vlist">${lines.map(([up, html]) => `<span style="top:${-2.7 - up}em;"><span class="pstrut" style="height:2.7em;"></span>${html}</span>`).join('')}</span></span></span>`
const katex = (html: string): string =>
  `<span class="katex"><span class="katex-html" aria-hidden="true"><span class="base"><span class="strut"></span>${html}</span></span></span>`
const letter = (text: string): string => `<span class="mord mathnormal">${text}</span>`
const scripts = (...lines: [up: number, html: string][]): string => `<span class="msupsub">${stack(...lines)}</span>`

describe('KaTeX', () => {
  test.each([
    [`${letter('x')}${scripts([0.4, '2'])}`, '$x^2$'],
    [`${letter('a')}${scripts([-0.2, letter('ij')])}`, '$a_{ij}$'],
    [`${letter('x')}${scripts([-0.2, 'i'], [0.4, '2'])}`, '$x_i^2$'],
    [
      `<span class="mfrac">${stack([-0.7, letter('b')], [0.2, '<span class="frac-line"></span>'], [0.7, letter('a')])}</span>`,
      String.raw`$\frac{a}{b}$`,
    ],
    [`(<span class="mfrac">${stack([-0.7, letter('k')], [0.7, letter('n')])}</span>)`, String.raw`$({n \atop k})$`],
    [
      `<span class="mord sqrt">${stack([0, letter('x')], [0.1, '<span class="hide-tail"><svg></svg></span>'])}</span>`,
      String.raw`$\sqrt{x}$`,
    ],
    [
      `<span class="mop op-limits">${stack([-1, 'i=1'], [0, '∑'], [1.2, letter('n')])}</span>`,
      String.raw`$\sum_{i=1}^n$`,
    ],
    [
      `<span class="mord overline">${stack([0, letter('AB')], [0.8, '<span class="overline-line"></span>'])}</span>`,
      String.raw`$\overline{AB}$`,
    ],
    [
      `<span class="mtable"><span class="col-align-c">${stack([-0.6, '3'], [0.6, '1'])}</span><span class="col-align-c">${stack([-0.6, '4'], [0.6, '2'])}</span></span>`,
      String.raw`$\begin{matrix}1 & 2 \\ 3 & 4\end{matrix}$`,
    ],
  ])('%#', (html, expected) => {
    expect(markdown(`<p>so ${katex(html)} is</p>`)).toBe(`so ${expected} is`)
  })

  test('keeps its positions in the main content', () => {
    const tree = treeFromHtml(`<body><p>so ${katex(`${letter('a')}${scripts([-0.2, '2'])}`)} is</p></body>`, '')
    expect(toMarkdown({ ...tree, root: prune(tree.root, segment(tree.root).blocks) })).toBe('so $a_2$ is\n')
  })
})

describe('MathJax', () => {
  const mathJax = (html: string): string =>
    `<mjx-container class="MathJax" jax="CHTML"><mjx-math>${html}</mjx-math></mjx-container>`
  const symbol = (code: string, tag = 'mjx-mi'): string => `<${tag}><mjx-c class="mjx-c${code} TEX-I"></mjx-c></${tag}>`
  const x = symbol('1D465')

  test.each([
    [`<mjx-msup>${x}<mjx-script>${symbol('32', 'mjx-mn')}</mjx-script></mjx-msup>`, '$x^2$'],
    [
      `<mjx-msubsup>${x}<mjx-script>${symbol('32', 'mjx-mn')}<mjx-spacer></mjx-spacer>${symbol('1D456')}</mjx-script></mjx-msubsup>`,
      '$x_i^2$',
    ],
    [
      `<mjx-mfrac><mjx-frac><mjx-num><mjx-nstrut></mjx-nstrut>${x}</mjx-num><mjx-dbox><mjx-dtable><mjx-line></mjx-line><mjx-row><mjx-den><mjx-dstrut></mjx-dstrut>${symbol('32', 'mjx-mn')}</mjx-den></mjx-row></mjx-dtable></mjx-dbox></mjx-frac></mjx-mfrac>`,
      String.raw`$\frac{x}{2}$`,
    ],
    [
      `<mjx-msqrt><mjx-sqrt><mjx-surd>${symbol('221A', 'mjx-mo')}</mjx-surd><mjx-box>${x}</mjx-box></mjx-sqrt></mjx-msqrt>`,
      String.raw`$\sqrt{x}$`,
    ],
    [
      `<mjx-munderover><mjx-over>${symbol('1D45B')}</mjx-over><mjx-box><mjx-munder><mjx-row><mjx-base>${symbol('2211', 'mjx-mo')}</mjx-base></mjx-row><mjx-row><mjx-under>${symbol('1D456')}</mjx-under></mjx-row></mjx-munder></mjx-box></mjx-munderover>`,
      String.raw`$\sum_i^n$`,
    ],
  ])('reads fonts %#', (html, expected) => {
    expect(markdown(`<p>so ${mathJax(html)} is</p>`)).toBe(`so ${expected} is`)
  })

  test('reads drawings, whose positions distinguish indices', () => {
    const part = (name: string, code: string, at = '0,0') =>
      `<g data-mml-node="${name}" transform="translate(${at}) scale(0.7)"><path data-c="${code}" d="M0 0"></path></g>`
    const drawing = (html: string) =>
      `<p>so <mjx-container jax="SVG"><svg><g data-mml-node="math">${html}</g></svg></mjx-container> is</p>`
    expect(
      markdown(
        drawing(
          `<g data-mml-node="msubsup">${part('mi', '1D465')}${part('mn', '32', '5,363')}${part('mi', '1D456', '5,-247')}</g>`,
        ),
      ),
    ).toBe('so $x_i^2$ is')
    expect(
      markdown(
        drawing(
          `<g data-mml-node="munderover">${part('mo', '2211')}${part('mi', '1D456', '1,-1087')}${part('mi', '1D45B', '4,1150')}</g>`,
        ),
      ),
    ).toBe(String.raw`so $\sum_i^n$ is`)
    expect(
      markdown(drawing(`<g data-mml-node="msqrt"><g>${part('mi', '1D465')}</g>${part('mo', '221A')}<rect></rect></g>`)),
    ).toBe(String.raw`so $\sqrt{x}$ is`)
  })
})

test('pairs without a line in MathML are no fractions', () => {
  const pair = '<math><mo>(</mo><mfrac linethickness="0"><mi>n</mi><mi>k</mi></mfrac><mo>)</mo></math>'
  expect(markdown(`<p>so ${pair} is</p>`)).toBe(String.raw`so $({n \atop k})$ is`)
})
