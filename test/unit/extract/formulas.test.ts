import { describe, expect, test } from 'vitest'
import { markdownOf } from '../../support/markdown.ts'

const formulaOf = (html: string) => markdownOf(`<p>a</p>${html}<p>b</p>`).trimEnd()
const inline = (tex: string) => `a\n\n${tex}\n\nb`
const display = (tex: string) => `a\n\n$$\n${tex}\n$$\n\nb`

describe('formulas that a script draws later', () => {
  test.each([
    String.raw`<p><span class="math inline">\(x_1*y_1\)</span></p>`,
    String.raw`<p><span>\(x_1*y_1\)</span></p>`,
    '<p><span class="kdmath">$x_1*y_1$</span></p>',
    '<p><math-renderer class="js-inline-math">$x_1*y_1$</math-renderer></p>',
  ])('are inline: %s', (html) => {
    expect(formulaOf(html)).toBe(inline('$x_1*y_1$'))
  })

  test.each([
    String.raw`<div class="math notranslate">\[x\]</div>`,
    String.raw`<div class="arithmatex"> \[x\] </div>`,
    String.raw`<p>\[x\]</p>`,
    '<div class="kdmath">$$x$$</div>',
    '<math-renderer class="js-display-math">$$x$$</math-renderer>',
  ])('are displayed: %s', (html) => {
    expect(formulaOf(html)).toBe(display('x'))
  })

  test('are no prices, and no text with several formulas', () => {
    expect(formulaOf('<p><span>$5 or $6</span></p>')).toBe(inline('$5 or $6'))
    expect(formulaOf(String.raw`<p>\[x\] and \[y\]</p>`)).toBe(inline(String.raw`\\[x\\] and \\[y\\]`))
    expect(formulaOf('<p><span class="MathJax_Preview">\\(x\\)</span><script type="math/tex">x</script></p>')).toBe(
      inline('$x$'),
    )
  })
})

describe('formulas of MathJax without MathML', () => {
  test('have the source that MathJax adds', () => {
    const svg = '<svg><g data-mml-node="math" data-latex="\\frac{x}{2}"></g></svg>'
    expect(formulaOf(`<p><mjx-container jax="SVG">${svg}</mjx-container></p>`)).toBe(inline('$\\frac{x}{2}$'))
    expect(
      formulaOf('<mjx-container jax="CHTML" display="true"><mjx-math data-latex="y"></mjx-math></mjx-container>'),
    ).toBe(display('y'))
  })

  test('have their label as code without it', () => {
    expect(formulaOf('<p><mjx-container jax="SVG" aria-label="x squared"><svg></svg></mjx-container></p>')).toBe(
      inline('`x squared`'),
    )
  })
})

describe('images of formulas', () => {
  test.each([
    ['<img src="/i/7.png" alt="\\frac{a}{b}">', '\\frac{a}{b}'],
    ['<img class="math" src="/i/7.png" alt="n">', 'n'],
    ['<img src="https://latex.codecogs.com/svg.latex?%5Csqrt{2}">', '\\sqrt{2}'],
    ['<img src="https://www.zhihu.example/equation?tex=x%2B1" alt="">', 'x+1'],
    ['<img src="https://render.example/render/math?math=y&mode=inline" alt="y">', 'y'],
  ])('are TeX: %s', (html, tex) => {
    expect(formulaOf(`<p>${html}</p>`)).toBe(inline(`$${tex}$`))
  })

  test('are displayed in a block of formulas', () => {
    expect(formulaOf('<div class="math"><p><img src="/i/9.png" alt="a + b"></p></div>')).toBe(display('a + b'))
  })

  test('do not make a formula of others', () => {
    expect(formulaOf('<p><img class="math" src="/i.png" alt="Our maths class"></p>')).toBe(
      inline('![Our maths class](https://site.example/i.png)'),
    )
    expect(formulaOf('<p><img src="/math?id=%E0%A4%A" alt="C:"></p>')).toBe(
      inline('![C:](https://site.example/math?id=%E0%A4%A)'),
    )
  })
})

test('MathML has indices in front of its base', () => {
  expect(
    formulaOf(
      '<p><math><mmultiscripts><mi>U</mi><none/><mo>+</mo><mprescripts/><mn>92</mn><mn>238</mn></mmultiscripts></math></p>',
    ),
  ).toBe(inline('${}_{92}^{238}U^+$'))
})

test('KaTeX without MathML becomes TeX', () => {
  expect(
    formulaOf(
      '<p><span class="katex"><span class="katex-html" aria-hidden="true"><span class="mord">x</span>=<span>1</span></span></span></p>',
    ),
  ).toBe(inline('$x=1$'))
})
