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

const grapes = `import grapesjs from 'grapesjs'; import 'grapesjs/dist/css/grapes.min.css'
const editor = grapesjs.init({ container: '#app', height: '600px', storageManager: false, fromElement: false, blockManager: { blocks: [
  { id: 'text', label: 'Text', content: { type: 'text', content: 'Insert your text here' } },
  { id: 'section', label: 'Section', content: '<section><h2>Title</h2><p>Words</p></section>' } ] } })
const show = () => { window.state = editor.getHtml().replaceAll(/ id="[^"]*"/g, '') }
editor.on('update', show)`

const excalidraw = `${react}import { Excalidraw } from '@excalidraw/excalidraw'; import '@excalidraw/excalidraw/index.css'
const shown = (elements) => elements.filter(({ isDeleted }) => !isDeleted).map(({ type, width, text, strokeColor }) => [type, text ?? Math.round(width), strokeColor])
show(() => <div style={{ height: '95vh' }}><Excalidraw onChange={(elements) => { window.state = shown(elements) }} /></div>)`

const admin =
  `${react}import { Admin, AutocompleteInput, Create, Datagrid, DateField, DateInput, Edit, List, ReferenceField, ReferenceInput,
  required, Resource, SelectInput, SimpleForm, TextField, TextInput } from 'react-admin'
import fakeRest from 'ra-data-fakerest'
const authors = ['Jane Austen', 'Leo Tolstoy', 'Mary Shelley'].map((name, at) => ({ id: at + 1, name }))
const books = [['Emma', 1, 'print', '1815-12-23'], ['War and Peace', 2, 'sold', '1869-01-01'], ['Frankenstein', 3, 'print', '1818-01-01']]
const records = books.map(([title, author_id, status, published], at) => ({ id: at + 1, title, author_id, status, published }))
const given = fakeRest({ authors, books: records }, false)
const states = [{ id: 'print', name: 'In print' }, { id: 'sold', name: 'Sold out' }]
const show = async () => {
  const { data } = await given.getList('books', { pagination: { page: 1, perPage: 50 }, sort: { field: 'id', order: 'ASC' }, filter: {} })
  window.state = data.map(({ title, author_id, status, published }) => [title, author_id, status, String(published).slice(0, 10)])
}
const stored = (method) => async (...input) => { const answer = await given[method](...input); await show(); return answer }
const provider = { ...given, ...Object.fromEntries(['create', 'update', 'updateMany', 'delete', 'deleteMany'].map((name) => [name, stored(name)])) }
const Fields = () => <SimpleForm><TextInput source="title" validate={required()} />
  <ReferenceInput source="author_id" reference="authors"><AutocompleteInput /></ReferenceInput>
  <SelectInput source="status" choices={states} /><DateInput source="published" /></SimpleForm>
const Books = () => <List filters={[<TextInput label="Search" source="q" alwaysOn />]}><Datagrid>
  <TextField source="title" /><ReferenceField source="author_id" reference="authors"><TextField source="name" /></ReferenceField>
  <TextField source="status" /><DateField source="published" /></Datagrid></List>
showApp(() => <Admin dataProvider={provider} disableTelemetry><Resource name="books" recordRepresentation="title" list={Books}
  edit={() => <Edit><Fields /></Edit>} create={() => <Create redirect="list"><Fields /></Create>} /><Resource name="authors" recordRepresentation="name" /></Admin>)
show()`.replace('const show = (App)', 'const showApp = (App)')

/** The sources of the pages, with the package whose folder has everything that they import. */
const sources = {
  admin: [admin, 'react-admin', '5.15.4', ['ra-data-fakerest@5.15.4', 'react@19.3.1', 'react-dom@19.3.1']],
  antd: [antd, 'antd', '6.6.8'],
  calendar: [calendar, 'fullcalendar', '6.1.21'],
  element: [element, 'element-plus', '2.14.8'],
  excalidraw: [excalidraw, '@excalidraw/excalidraw', '0.18.1', ['react@19.3.1', 'react-dom@19.3.1']],
  grapes: [grapes, 'grapesjs', '0.23.6'],
  quill: [quill, 'quill', '2.0.3'],
} satisfies Record<string, readonly [contents: string, name: string, version: string, beside?: string[]]>

export type RecordedPage = keyof typeof sources

/** Returns the HTML of a page; its state is in `window.state`. */
export async function recordedPage(page: RecordedPage): Promise<string> {
  const [contents, name, version, beside = []] = sources[page]
  const folder = await packageFolder(name, version, beside)
  const resolveDir = fileURLToPath(new URL('../'.repeat(name.split('/').length), folder))
  const { outputFiles } = await build({
    stdin: { contents, resolveDir, loader: 'jsx' },
    bundle: true,
    conditions: ['production'],
    define: {
      'process.env.NODE_ENV': '"production"',
      'process.env.IS_PREACT': '"false"',
      'import.meta.env': '{}',
    },
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
