/** Pages with component libraries, editors and applications that people meet, built from their packages. */
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { packageFolder } from './packages.ts'

const react = `import React from 'react'; import { createRoot } from 'react-dom/client'
const show = (App) => createRoot(document.getElementById('app')).render(<App />)\n`

const antd = `${react}import { Checkbox, Form, Input, Radio, Select, Switch } from 'antd'
const options = (...names) => names.map((label) => ({ value: label, label }))
show(() => <Form style={{ width: 420 }} onValuesChange={(_, values) => (window.state = values)}>
  <Form.Item label="Name" name="name"><Input /></Form.Item>
  <Form.Item name="agree" valuePropName="checked"><Checkbox>Agree</Checkbox></Form.Item>
  <Form.Item label="Wi-Fi" name="wifi" valuePropName="checked"><Switch /></Form.Item>
  <Form.Item label="Colour" name="colour"><Radio.Group options={['Red', 'Blue']} /></Form.Item>
  <Form.Item label="Status" name="status"><Select options={options('Draft', 'Live')} /></Form.Item>
  <Form.Item label="Tags" name="tags"><Select mode="multiple" options={options('Alpha', 'Beta', 'Gamma')} /></Form.Item>
</Form>)`

const element = `import { createApp, reactive, watchEffect } from 'vue/dist/vue.esm-bundler.js'; import Element from 'element-plus'; import 'element-plus/dist/index.css'
const form = reactive({ name: '', agree: false, wifi: false, colour: '', status: '', tags: [], city: '' })
watchEffect(() => { window.state = JSON.parse(JSON.stringify(form)) })
const find = (text, show) => show(['Rome', 'Paris'].filter((value) => value.includes(text)).map((value) => ({ value })))
createApp({ setup: () => ({ form, find }), template: \`<el-form :model="form" label-width="100px" style="width:420px">
  <el-form-item label="Name"><el-input v-model="form.name"/></el-form-item>
  <el-form-item><el-checkbox v-model="form.agree" label="Agree"/></el-form-item>
  <el-form-item label="Wi-Fi"><el-switch v-model="form.wifi"/></el-form-item>
  <el-form-item label="Colour"><el-radio-group v-model="form.colour"><el-radio value="red">Red</el-radio><el-radio value="blue">Blue</el-radio></el-radio-group></el-form-item>
  <el-form-item label="Status"><el-select v-model="form.status"><el-option label="Draft" value="d"/><el-option label="Live" value="l"/></el-select></el-form-item>
  <el-form-item label="Tags"><el-select multiple v-model="form.tags"><el-option label="Alpha" value="a"/><el-option label="Beta" value="b"/></el-select></el-form-item>
  <el-form-item label="City"><el-autocomplete v-model="form.city" :fetch-suggestions="find"/></el-form-item></el-form>\` }).use(Element).mount('#app')`

const quill = `import Quill from 'quill'; import 'quill/dist/quill.snow.css'
const toolbar = [[{ header: [1, 2, false] }], ['bold', 'italic']]
const editor = new Quill('#app', { theme: 'snow', modules: { toolbar } })
editor.on('text-change', () => { window.state = editor.root.innerHTML })`

const calendar = `import { Calendar } from 'fullcalendar'
const show = () => { window.state = calendar.getEvents().map(({ title, startStr, endStr }) => [title, startStr, endStr]) }
const calendar = new Calendar(document.getElementById('app'), {
  initialView: 'dayGridMonth', initialDate: '2026-03-01', timeZone: 'UTC', editable: true, selectable: true,
  events: [{ title: 'Standup', start: '2026-03-10' }, { title: 'Review', start: '2026-03-12' }],
  select: ({ startStr: start, endStr: end }) => { calendar.addEvent({ title: prompt('Title'), start, end }); show() },
  eventDrop: show,
  eventClick: ({ event }) => { if (confirm('Delete?')) event.remove(); show() },
})
calendar.render()`

/** The sources of the pages, with the package whose folder has everything that they import. */
const sources = {
  antd: [antd, 'antd', '6.6.8'],
  calendar: [calendar, 'fullcalendar', '6.1.21'],
  element: [element, 'element-plus', '2.14.8'],
  quill: [quill, 'quill', '2.0.3'],
} as const

export type RecordedPage = keyof typeof sources

/** Returns the HTML of a page; its state is in `window.state`. */
export async function recordedPage(page: RecordedPage): Promise<string> {
  const [contents, name, version] = sources[page]
  const resolveDir = fileURLToPath(new URL('../'.repeat(name.split('/').length), await packageFolder(name, version)))
  const { outputFiles } = await build({
    stdin: { contents, resolveDir, loader: 'jsx' },
    bundle: true,
    conditions: ['production'],
    define: { 'process.env.NODE_ENV': '"production"', 'process.env.IS_PREACT': '"false"' },
    format: 'iife',
    loader: { '.svg': 'dataurl', '.ttf': 'dataurl', '.woff2': 'dataurl' },
    logLevel: 'error',
    outdir: '/',
    write: false,
  })
  const text = (end: string) => outputFiles.find(({ path }) => path.endsWith(end))?.text ?? ''
  return `<!doctype html><meta charset=utf-8><title>${page}</title><style>${text('.css').replaceAll('</style', '<\\/style')}</style><div id=app></div>
    <script>${text('.js').replaceAll('</script', '<\\/script')}</script>`
}
