import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { inUsualHomes } from '../support/commands.ts'

const pages = {
  '/': `<!doctype html><style>body{margin:0}</style><div id=tall style="height:3000px;background:linear-gradient(red,blue)"></div>
    <div id=chip style="position:absolute;left:10px;top:10px;width:120px;height:50px;background:#0f0">Chip</div><p id=gone hidden>x</p>
    <div id=host style="position:absolute;left:300px;top:10px"></div>
    <iframe id=inner style="position:absolute;left:10px;top:200px;border:0" srcdoc="<div id=in style='width:70px;height:30px;background:red'></div>"></iframe>
    <script>document.querySelector('#host').attachShadow({mode:'open'}).innerHTML = '<div id=deep style="width:40px;height:20px">d</div>'</script>`,
}

/** Returns the width and height of a PNG from its header. */
const pngSize = (bytes: Buffer) => [bytes.readUInt32BE(16), bytes.readUInt32BE(20)]

inUsualHomes(pages, (given) => {
  const shot = async (command: string, data: Record<string, unknown>) => {
    const { results } = await given.run([[command, data]])
    expect(results[0]).toMatchObject({ success: true, command_type: 'extraction' })
    return { type: results[0]!.content_type, bytes: Buffer.from(results[0]!.data!['screenshot'] as string, 'base64') }
  }

  test('screenshot returns the viewport or the full page as PNG', async () => {
    await given.open('/')
    const part = await shot('screenshot', { full_page: false })
    expect(part.type).toBe('image/png')
    expect(pngSize(part.bytes)).toEqual([1280, 720])
    const whole = await shot('screenshot', { full_page: true })
    expect(pngSize(whole.bytes)).toEqual([1280, 3000])
  })

  test('screenshot saves the image at the given path', async () => {
    await given.open('/')
    const folder = await mkdtemp(join(tmpdir(), 'bax-shot-'))
    try {
      const path = join(folder, 'deep', 'page.png')
      const data = await given.do('screenshot', { full_page: false, path })
      expect(data['path']).toBe(path)
      expect((await readFile(path)).toString('base64')).toBe(data['screenshot'])
    } finally {
      await rm(folder, { recursive: true })
    }
  })

  test('element_screenshot returns one element as PNG or JPEG', async () => {
    await given.open('/')
    const png = await shot('element_screenshot', { selector: '#chip' })
    expect(png.type).toBe('image/png')
    expect(pngSize(png.bytes)).toEqual([120, 50])
    const good = await shot('element_screenshot', { selector: '#chip', format: 'jpeg', quality: 95 })
    const bad = await shot('element_screenshot', { selector: '#chip', format: 'jpeg', quality: 5 })
    expect(good.type).toBe('image/jpeg')
    expect(good.bytes.subarray(0, 2).toString('hex')).toBe('ffd8')
    expect(bad.bytes.length).toBeLessThan(good.bytes.length)
    expect(pngSize((await shot('element_screenshot', { selector: '#deep' })).bytes)).toEqual([40, 20])
    expect(pngSize((await shot('element_screenshot', { selector: 'frame=#inner >> #in' })).bytes)).toEqual([70, 30])
    const hidden = await given.fails('element_screenshot', { selector: '#gone', timeout_ms: 700 })
    expect(hidden.code).toBe('element_not_visible')
  })
})
