/** Forms of component libraries, built from their packages, and the controls in them. */
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { packageFolder } from './packages.ts'
import { serveSite, type Site } from './site.ts'

const react = ['react@19.3.1', 'react-dom@19.3.1']
const libraries = {
  mui: {
    title: 'MUI',
    source: 'mui.jsx',
    name: '@mui/x-date-pickers',
    version: '9.17.0',
    beside: ['@mui/material@9.5.0', '@emotion/react@11.14.0', '@emotion/styled@11.14.1', 'dayjs@1.11.23', ...react],
  },
  antd: { title: 'Ant Design', source: 'antd.jsx', name: 'antd', version: '6.6.8', beside: react },
  element: {
    title: 'Element Plus',
    source: 'element-plus.js',
    name: 'element-plus',
    version: '2.14.8',
    beside: ['vue@3.5.45'],
  },
  vuetify: { title: 'Vuetify', source: 'vuetify.js', name: 'vuetify', version: '4.3.0', beside: ['vue@3.5.45'] },
  bootstrap: {
    title: 'Bootstrap',
    source: 'bootstrap.js',
    name: 'bootstrap',
    version: '5.3.9',
    beside: ['@popperjs/core@2.11.8'],
  },
}
export type Library = keyof typeof libraries
export const libraryNames = Object.keys(libraries) as Library[]

const define = {
  'process.env.NODE_ENV': '"production"',
  'process.env': '{}',
  __VUE_OPTIONS_API__: 'true',
  __VUE_PROD_DEVTOOLS__: 'false',
}
const fonts = { '.woff': 'empty', '.woff2': 'empty', '.ttf': 'empty', '.eot': 'empty', '.svg': 'empty' } as const

/** Bundles the page of a library with the packages beside it. */
async function pageOf(library: Library): Promise<string> {
  const { source, name, version, beside } = libraries[library]
  const folder = await packageFolder(name, version, beside)
  const resolveDir = fileURLToPath(new URL('../'.repeat(name.split('/').length), folder))
  const contents = await readFile(new URL(`../fixtures/libraries/${source}`, import.meta.url), 'utf8')
  const isVue = beside.some((one) => one.startsWith('vue@'))
  const alias: Record<string, string> = isVue ? { vue: `${resolveDir}vue/dist/vue.esm-bundler.js` } : {}
  const { outputFiles } = await build({
    stdin: { contents, resolveDir, loader: 'jsx' },
    bundle: true,
    write: false,
    outdir: '/',
    format: 'iife',
    minify: true,
    logLevel: 'error',
    define,
    alias,
    loader: fonts,
  })
  const textOf = (type: string) => outputFiles.find(({ path }) => path.endsWith(type))?.text ?? ''
  const script = textOf('.js').replaceAll('</script', '<\\/script')
  return `<!doctype html><meta charset=utf-8><title>${library}</title><style>${textOf('.css')}</style><div id=app></div><script>${script}</script>`
}

/** Serves one page per library (`/mui`); `state` in it has the values of its controls. */
export async function serveLibraries(): Promise<Site> {
  const pages = await Promise.all(libraryNames.map(async (library) => [`/${library}`, await pageOf(library)] as const))
  return serveSite(Object.fromEntries(pages))
}

type Value = string | number | boolean | (string | number)[]
type Step = readonly [command: string, data: Record<string, unknown>]

/** A control in the forms of some libraries. */
export interface Control {
  readonly name: string
  /** Property of `state`. */
  readonly key: string
  readonly label: string
  readonly value: Value
  /** Value in `state`, if it is another one. */
  readonly state?: Partial<Record<Library, unknown>>
  readonly libraries: readonly Library[]
  /** Command that sets it by its label. */
  readonly single?: 'fill' | 'select_option' | 'check'
}

const all = libraryNames
const drawn = all.filter((name) => name !== 'bootstrap')
const antLike = ['antd', 'element'] as const

/** Controls that `fill_form` sets. */
export const fields: readonly Control[] = [
  {
    name: 'Text, also with a floating label',
    key: 'name',
    label: 'Name',
    value: 'Ann',
    libraries: all,
    single: 'fill',
  },
  { name: 'Password', key: 'password', label: 'Password', value: 's3cret', libraries: all, single: 'fill' },
  { name: 'Text of several lines', key: 'notes', label: 'Notes', value: 'a\nb', libraries: all, single: 'fill' },
  {
    name: 'Number with steppers',
    key: 'amount',
    label: 'Amount',
    value: 5,
    state: { mui: '5', bootstrap: '5' },
    libraries: all,
    single: 'fill',
  },
  { name: 'Select', key: 'status', label: 'Status', value: 'Live', libraries: all, single: 'select_option' },
  {
    name: 'Select, several options',
    key: 'multi',
    label: 'Tags',
    value: ['Alpha', 'Gamma'],
    libraries: all,
    single: 'select_option',
  },
  {
    name: 'Native select',
    key: 'country',
    label: 'Country',
    value: 'Italy',
    libraries: ['mui'],
    single: 'select_option',
  },
  {
    name: 'Autocomplete',
    key: 'city',
    label: 'City',
    value: 'Paris',
    libraries: drawn.filter((name) => name !== 'element'),
    single: 'select_option',
  },
  {
    name: 'Text with suggestions',
    key: 'city',
    label: 'City',
    value: 'Paris',
    libraries: ['bootstrap'],
    single: 'fill',
  },
  { name: 'Autocomplete that takes any text', key: 'city', label: 'City', value: 'Paris', libraries: ['element'] },
  {
    name: 'Autocomplete, several options',
    key: 'cities',
    label: 'Cities',
    value: ['Rome', 'Berlin'],
    libraries: drawn,
    single: 'select_option',
  },
  {
    name: 'Autocomplete that takes new texts',
    key: 'keywords',
    label: 'Keywords',
    value: ['one', 'two'],
    libraries: drawn,
    single: 'select_option',
  },
  { name: 'Tags', key: 'tagged', label: 'Tokens', value: ['one', 'two'], libraries: ['element'] },
  { name: 'Tree select', key: 'branch', label: 'Branch', value: 'Italy', libraries: antLike, single: 'select_option' },
  {
    name: 'Cascader',
    key: 'region',
    label: 'Region',
    value: ['Europe', 'Italy', 'Rome'],
    libraries: antLike,
    single: 'select_option',
  },
  { name: 'Checkbox', key: 'agree', label: 'Agree', value: true, libraries: all, single: 'check' },
  { name: 'Checkboxes', key: 'days', label: 'Days', value: ['Monday', 'Friday'], libraries: all },
  { name: 'Radio buttons', key: 'colour', label: 'Colour', value: 'Blue', libraries: all, single: 'select_option' },
  {
    name: 'Radio buttons drawn as buttons',
    key: 'size',
    label: 'Size',
    value: 'Large',
    libraries: [...antLike, 'bootstrap'],
    single: 'select_option',
  },
  { name: 'Switch', key: 'wifi', label: 'Wi-Fi', value: true, libraries: all, single: 'check' },
  { name: 'Slider', key: 'volume', label: 'Volume', value: 34, libraries: all, single: 'fill' },
  {
    name: 'Slider with two handles',
    key: 'price',
    label: 'Price',
    value: [22, 57],
    libraries: ['antd', 'element', 'vuetify'],
  },
  { name: 'Rating', key: 'rating', label: 'Rating', value: 4, libraries: drawn },
  {
    name: 'Toggle buttons, segments',
    key: 'view',
    label: 'View',
    value: 'Grid',
    state: { mui: 'grid', bootstrap: ['Grid'] },
    libraries: all,
  },
  { name: 'Date', key: 'date', label: 'Date', value: '2026-05-14', libraries: all, single: 'fill' },
  { name: 'Range of dates', key: 'period', label: 'Period', value: ['2026-05-10', '2026-05-14'], libraries: antLike },
  {
    name: 'Time',
    key: 'time',
    label: 'Time',
    value: '09:30',
    libraries: all.filter((name) => name !== 'vuetify'),
    single: 'fill',
  },
  {
    name: 'Date and time',
    key: 'start',
    label: 'Start',
    value: '2026-05-14T09:30',
    state: { mui: '2026-05-14 09:30', antd: '2026-05-14 09:30', element: '2026-05-14 09:30' },
    libraries: all.filter((name) => name !== 'vuetify'),
    single: 'fill',
  },
  {
    name: 'Colour in a text field',
    key: 'accent',
    label: 'Accent',
    value: '#ff0000',
    libraries: ['vuetify', 'bootstrap'],
    single: 'fill',
  },
  { name: 'One-time code', key: 'code', label: 'Code', value: '1234', libraries: ['antd', 'element', 'vuetify'] },
  { name: 'Text with mentions', key: 'comment', label: 'Comment', value: 'hello', libraries: antLike, single: 'fill' },
]

/** A control that several commands operate. */
export interface Operated {
  readonly name: string
  readonly steps: Partial<Record<Library, readonly Step[]>>
  /** Part of `state` afterwards. */
  readonly state: Record<string, unknown>
  /** Commands in the guide. */
  readonly shown: string
}

const click = (selector: string): Step => ['click', { selector }]
const each = (names: readonly Library[], ...steps: readonly Step[]) =>
  Object.fromEntries(names.map((name) => [name, steps]))

export const operated: readonly Operated[] = [
  {
    name: 'Menu',
    steps: each(drawn, click('role=button[name="More"]'), click('text=Rename')),
    state: { more: 'Rename' },
    shown: '`click`, `click`',
  },
  {
    name: 'Dropdown used as a select',
    steps: each(['bootstrap'], click('role=button[name="Owner"]'), click('text=Bob')),
    state: { owner: 'Bob' },
    shown: '`click`, `click`',
  },
  { name: 'Tabs', steps: each(all, click('role=tab[name="Second"]')), state: { section: 'Second' }, shown: '`click`' },
  {
    name: 'Accordion',
    steps: each(['mui', 'antd', 'bootstrap'], click('role=button[name="Details"]')),
    state: { details: true },
    shown: '`click`',
  },
  {
    name: 'Tree',
    steps: each(['antd', 'element', 'vuetify'], click('text=Asia')),
    state: { files: 'Asia' },
    shown: '`click`',
  },
  {
    name: 'Transfer',
    steps: {
      antd: [click('text=Read'), click('text=Delete'), click('role=button[name="right"]')],
      element: [
        ['check', { selector: 'label="Read"' }],
        ['check', { selector: 'label="Delete"' }],
        click('.el-transfer__buttons button >> nth=1'),
      ],
    },
    state: { rights: ['Read', 'Delete'] },
    shown: '`check` or `click`, `click`',
  },
  {
    name: 'Colour in a panel',
    steps: {
      antd: [
        click('.ant-color-picker-trigger'),
        ['fill', { selector: '.ant-color-picker-hex-input input', text: 'ff0000' }],
      ],
      element: [
        click('role=button[name="Accent"]'),
        ['fill', { selector: '.el-color-picker-panel input', text: '#ff0000' }],
        click('.el-color-footer__btn'),
      ],
    },
    state: { accent: '#ff0000' },
    shown: '`click`, `fill`',
  },
  {
    name: 'Dialog with fields',
    steps: each(
      drawn,
      click('role=button[name="Edit"]'),
      ['fill_form', { fields: { Title: 'Sir', Owner: 'Bob' } }],
      click('role=button[name="Save"]'),
    ),
    state: { title: 'Sir', owner: 'Bob', open: false },
    shown: '`click`, `fill-form`, `click`',
  },
]

/** Returns the table of all controls for the guide. */
export function controlTable(): string {
  const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  const head = ['Control', 'Set with', ...all.map((name) => libraries[name].title)]
  const marks = (has: (name: Library) => boolean) => all.map((name) => (has(name) ? 'yes' : ''))
  const commandOf = ({ single }: Control) => `\`fill-form\`${single ? `, \`${single.replace('_option', '')}\`` : ''}`
  return [
    row(head),
    row(head.map(() => '---')),
    ...fields.map((one) => row([one.name, commandOf(one), ...marks((name) => one.libraries.includes(name))])),
    ...operated.map((one) => row([one.name, one.shown, ...marks((name) => one.steps[name] !== undefined)])),
    row(['Upload', '`upload-files`', ...marks(() => true)]),
  ].join('\n')
}
