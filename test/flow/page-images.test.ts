/** Screenshots with options, and PDFs. */
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Annotation } from '../../src/core/shapes/commands.ts'
import { bax } from '../support/cli.ts'
import { inUsualHomes } from '../support/commands.ts'

const pages = {
  '/': `<!doctype html><title>Page</title><style>body{margin:0;height:3000px}a,button{position:absolute;left:20px;width:100px;height:40px}</style>
    <button style="top:20px">Buy</button><a href=/next style="top:100px">Next</a><h1 style="position:absolute;top:200px">Heading</h1>
    <button style="top:2000px">Far</button><div id=red style="position:absolute;left:300px;top:50px;width:200px;height:100px;background:red"></div>
    <div style="position:absolute;top:2900px;background:#00f;width:50px;height:50px"></div>
    <iframe style="position:absolute;left:600px;top:300px;border:0" srcdoc="<button style='position:absolute;left:10px;top:10px'>Inner</button>"></iframe>`,
}

const pngSize = (bytes: Buffer) => [bytes.readUInt32BE(16), bytes.readUInt32BE(20)]

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bax-images-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

inUsualHomes(pages, (given) => {
  const shot = async (data: Record<string, unknown>) => {
    const { results } = await given.run([['screenshot', data]])
    const [result] = results
    expect(result).toMatchObject({ success: true })
    const { screenshot, annotations } = result!.data as { screenshot: string; annotations: Annotation[] }
    return { type: result!.content_type, bytes: Buffer.from(screenshot, 'base64'), annotations }
  }
  const cli = (...argv: string[]) =>
    bax([...argv, '--server', given.homes().baseUrl], { cwd: folder, env: { BAX_SESSION: given.sessionId() } })
  /** Returns the width and height of an image, and the color of its center, as the browser decodes it. */
  const decode = async ({ type, bytes }: { type: string | undefined; bytes: Buffer }) => {
    const url = JSON.stringify(`data:${type};base64,${bytes.toString('base64')}`)
    return (await given.evaluate(`(async () => {
      const image = await createImageBitmap(await (await fetch(${url})).blob())
      const canvas = new OffscreenCanvas(image.width, image.height), context = canvas.getContext('2d')
      context.drawImage(image, 0, 0)
      return [image.width, image.height, ...context.getImageData(image.width / 2, image.height / 2, 1, 1).data]
    })()`)) as number[]
  }

  describe('a screenshot', () => {
    test('shows an element, or a part of the viewport or of the page', async () => {
      await given.open('/')
      expect(await decode(await shot({ selector: '#red' }))).toEqual([200, 100, 255, 0, 0, 255])
      const clip = { x: 310, y: 60, width: 40, height: 30 }
      expect(await decode(await shot({ clip }))).toEqual([40, 30, 255, 0, 0, 255])
      const below = { x: 0, y: 2900, width: 50, height: 50 }
      expect(await decode(await shot({ clip: below, full_page: true }))).toEqual([50, 50, 0, 0, 255, 255])
      expect(await given.fails('screenshot', { clip: below })).toMatchObject({ code: 'action_failed' })
    })

    test('has the requested format and quality', async () => {
      await given.open('/')
      const good = await shot({ format: 'jpeg', quality: 95 })
      const bad = await shot({ format: 'jpeg', quality: 5 })
      expect(good.type).toBe('image/jpeg')
      expect(bad.bytes.length).toBeLessThan(good.bytes.length)
      const webp = await shot({ format: 'webp', selector: '#red' })
      expect([webp.type, webp.bytes.subarray(8, 12).toString()]).toEqual(['image/webp', 'WEBP'])
      expect((await decode(webp)).slice(0, 2)).toEqual([200, 100])
      expect((await decode(await shot({ format: 'webp', full_page: true }))).slice(0, 2)).toEqual([1280, 3000])
      expect((await decode(await shot({ format: 'webp' }))).slice(0, 2)).toEqual([1280, 720])
    })

    test('draws the references of the controls and lists them', async () => {
      await given.open('/')
      const plain = await shot({})
      const { bytes, annotations } = await shot({ annotate: true })
      expect(bytes.equals(plain.bytes)).toBe(false)
      expect(annotations.map(({ role, name }) => `${role} ${name}`)).toEqual([
        'button Buy',
        'link Next',
        'button Inner',
      ])
      expect(annotations[0]!.box).toEqual({ x: 20, y: 20, width: 100, height: 40 })
      expect(annotations[2]!.box).toMatchObject({ x: 610, y: 310 })
      expect(await given.value('get_text', { selector: `ref=${annotations[1]!.ref}` })).toBe('Next')
      // Nothing stays on the page.
      expect((await shot({})).bytes.equals(plain.bytes)).toBe(true)
    })

    test('has boxes relative to the image when it shows more or less than the viewport', async () => {
      await given.open('/')
      await given.evaluate('scrollTo(0, 500)')
      const whole = await shot({ annotate: true, full_page: true })
      expect(pngSize(whole.bytes)).toEqual([1280, 3000])
      expect(whole.annotations.map(({ name }) => name)).toEqual(['Buy', 'Next', 'Far', 'Inner'])
      expect(whole.annotations[2]!.box).toEqual({ x: 20, y: 2000, width: 100, height: 40 })
      await given.evaluate('scrollTo(0, 0)')
      const part = await shot({ annotate: true, clip: { x: 10, y: 90, width: 200, height: 100 } })
      expect(part.annotations).toMatchObject([{ name: 'Next', box: { x: 10, y: 10 } }])
    })

    test('keeps the references of an earlier observation', async () => {
      await given.open('/')
      const { elements } = await given.client().observe({ session_id: given.sessionId() })
      const heading = elements!.find(({ role }) => role === 'heading')!
      await shot({ annotate: true })
      expect(await given.value('get_text', { selector: `ref=${heading.ref}` })).toBe('Heading')
    })

    test('is refused with options that contradict each other', async () => {
      await expect(given.run([['screenshot', { selector: '#red', full_page: true }]])).rejects.toMatchObject({
        code: 'invalid_request',
        message: expect.stringContaining('cannot be combined with clip or full_page'),
      })
    })

    test('is written and explained by the command line', async () => {
      await given.open('/')
      const done = await cli('screenshot', '--annotate', '--full-page', '-o', 'page.png')
      expect(done.code).toBe(0)
      expect(done.stdout).toMatch(/^e\d+ button "Buy"\ne\d+ link "Next"\ne\d+ button "Far"\n/)
      expect(pngSize(await readFile(join(folder, 'page.png')))).toEqual([1280, 3000])
      const clipped = await cli('screenshot', '--clip', '300,50,20,10', '--format', 'webp', '-o', '-')
      expect(clipped.bytes.subarray(8, 12).toString()).toBe('WEBP')
    })
  })

  describe('print_to_pdf', () => {
    const print = async (data: Record<string, unknown> = {}) => {
      const { results } = await given.run([['print_to_pdf', data]])
      expect(results[0]).toMatchObject({ success: true, content_type: 'application/pdf' })
      return Buffer.from(results[0]!.data!['pdf'] as string, 'base64').toString('latin1')
    }
    /** Returns the size of the first page in points, and the number of pages. */
    const shape = (pdf: string) => {
      const [, width, height] = /\/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]/.exec(pdf)!
      return [Math.round(Number(width)), Math.round(Number(height)), pdf.match(/\/Type \/Page\b/g)!.length]
    }

    test('prints the page on the requested paper', async () => {
      await given.open('/')
      const whole = await print()
      expect(whole.slice(0, 5)).toBe('%PDF-')
      const [width, height, count] = shape(whole)
      expect([width, height]).toEqual([596, 843])
      expect(count).toBeGreaterThan(2)
      expect(shape(await print({ paper: 'Letter', landscape: true })).slice(0, 2)).toEqual([792, 612])
      expect(shape(await print({ pages: '1-2' }))[2]).toBe(2)
      expect(shape(await print({ scale: 0.5 }))[2]).toBeLessThan(count!)
      expect(shape(await print({ margin: '5cm 1cm' }))[2]).toBeGreaterThan(count!)
    })

    test('prints headers and footers', async () => {
      await given.open('/')
      const header =
        '<span style="font-size:12px"><span class=pageNumber></span> of <span class=totalPages></span></span>'
      const [plain, headed] = [await print(), await print({ header })]
      expect(headed.length).toBeGreaterThan(plain.length)
    })

    test('saves the file, and reports invalid options', async () => {
      await given.open('/')
      const path = join(folder, 'saved.pdf')
      expect(await given.do('print_to_pdf', { path })).toMatchObject({ path })
      expect((await readFile(path)).subarray(0, 5).toString()).toBe('%PDF-')
      expect(await given.fails('print_to_pdf', { pages: '90-99' })).toMatchObject({ code: 'invalid_data' })
      await expect(given.run([['print_to_pdf', { margin: 'wide' }]])).rejects.toMatchObject({ code: 'invalid_request' })
      await expect(given.run([['print_to_pdf', { pages: 'all' }]])).rejects.toMatchObject({ code: 'invalid_request' })
    })

    test('is written by the command line', async () => {
      await given.open('/')
      expect(await cli('pdf', '-o', 'page.pdf')).toMatchObject({ code: 0, stdout: '', stderr: '' })
      expect((await readFile(join(folder, 'page.pdf'))).subarray(0, 5).toString()).toBe('%PDF-')
    })
  })
})
