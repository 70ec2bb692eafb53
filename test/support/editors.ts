/** Pages with the editors that people meet most, built from their packages. */
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { packageFolder } from './packages.ts'
import { serveSite, type Site } from './site.ts'

const codemirror = `import { basicSetup, EditorView } from 'codemirror'
const view = new EditorView({ doc: 'const one = 1', extensions: [basicSetup, EditorView.contentAttributes.of({ 'aria-label': 'Notes' })], parent: document.body })
window.content = () => view.state.doc.toString()`

const prosemirror = `import { EditorState } from 'prosemirror-state'
import { Schema } from 'prosemirror-model'
import { EditorView } from 'prosemirror-view'
import { exampleSetup } from 'prosemirror-example-setup'
const text = { toDOM: () => ['p', 0], parseDOM: [{ tag: 'p' }], content: 'text*', group: 'block' }
const schema = new Schema({ nodes: { doc: { content: 'block+' }, paragraph: text, text: {} }, marks: {} })
const doc = schema.node('doc', null, [schema.node('paragraph', null, [schema.text('Hello')])])
const state = EditorState.create({ doc, plugins: exampleSetup({ schema, menuBar: false }) })
const view = new EditorView(document.body, { state, attributes: { 'aria-label': 'Notes' } })
window.content = () => view.state.doc.textBetween(0, view.state.doc.content.size, '\\n')`

const lexical = `import { $createParagraphNode, $createTextNode, $getRoot, createEditor } from 'lexical'
import { registerRichText } from '@lexical/rich-text'
const host = document.createElement('div')
host.contentEditable = 'true'
host.id = 'editor'
host.ariaLabel = 'Notes'
document.body.append(host)
const editor = createEditor({ onError: (error) => { throw error } })
editor.setRootElement(host)
registerRichText(editor)
editor.update(() => $getRoot().append($createParagraphNode().append($createTextNode('Hello'))))
window.content = () => editor.getEditorState().read(() => $getRoot().getTextContent()).replaceAll('\\n\\n', '\\n')
window.isBold = () => JSON.stringify(editor.getEditorState()).includes('"format":1')`

const quill = `import Quill from 'quill'
import 'quill/dist/quill.snow.css'
const host = document.createElement('div')
document.body.append(host)
const quill = new Quill(host, { theme: 'snow' })
quill.setText('Hello')
quill.root.ariaLabel = 'Notes'
window.content = () => quill.getText().replace(/\\n$/, '')
window.isBold = () => quill.getContents().ops.some(({ attributes }) => attributes?.bold)`

const tiptap = `import { Editor } from '@tiptap/core'
import StarterKit from '@tiptap/starter-kit'
const editor = new Editor({ element: document.body, extensions: [StarterKit], content: '<p>Hello</p>', editorProps: { attributes: { 'aria-label': 'Notes' } } })
window.content = () => editor.getText({ blockSeparator: '\\n' })
window.isBold = () => editor.getHTML().includes('<strong>')`

const slate = `import { createElement, useState } from 'react'
import { createRoot } from 'react-dom/client'
import { createEditor, Editor, Node } from 'slate'
import { Editable, Slate, withReact } from 'slate-react'
const editor = withReact(createEditor())
const start = [{ type: 'paragraph', children: [{ text: 'Hello' }] }]
const renderLeaf = ({ attributes, children, leaf }) =>
  createElement('span', attributes, leaf.bold ? createElement('strong', null, children) : children)
const onKeyDown = (event) => {
  if (event.key.toLowerCase() !== 'b' || !event.ctrlKey) return
  event.preventDefault()
  Editor.addMark(editor, 'bold', true)
}
const App = () => createElement(Slate, { editor, initialValue: start },
  createElement(Editable, { renderLeaf, onKeyDown, 'aria-label': 'Notes' }))
const root = document.createElement('div')
document.body.append(root)
createRoot(root).render(createElement(App))
window.content = () => editor.children.map((node) => Node.string(node)).join('\\n')
window.selected = () => (editor.selection ? Editor.string(editor, editor.selection) : '')
window.isBold = () => JSON.stringify(editor.children).includes('"bold":true')`

const codemirror5 = `import CodeMirror from 'codemirror'
import 'codemirror/lib/codemirror.css'
const editor = CodeMirror(document.body, { value: 'const one = 1', lineNumbers: true, screenReaderLabel: 'Notes' })
window.content = () => editor.getValue()`

const monaco = `<!doctype html><div id=editor style="height:300px;width:600px"></div>
<script src=/vs/loader.js></script><script>
require.config({ paths: { vs: '/vs' } })
require(['vs/editor/editor.main'], () => {
  const options = { value: 'one', ariaLabel: 'Notes', language: 'plaintext', autoClosingBrackets: 'never', quickSuggestions: false, wordBasedSuggestions: 'off' }
  const editor = monaco.editor.create(document.querySelector('#editor'), options)
  window.content = () => editor.getValue()
})</script>`

const xterm = `<!doctype html><link rel=stylesheet href=/xterm.css><div id=terminal></div><script src=/xterm.js></script><script>
  const terminal = new Terminal()
  terminal.open(document.querySelector('#terminal'))
  let typed = ''
  terminal.onData((data) => (typed += data))
  window.content = () => typed
</script>`

/** Bundles a module for a page with the packages beside one package. */
async function bundled(contents: string, name: string, version: string): Promise<string> {
  const resolveDir = fileURLToPath(new URL('../'.repeat(name.split('/').length), await packageFolder(name, version)))
  const { outputFiles } = await build({
    stdin: { contents, resolveDir },
    bundle: true,
    write: false,
    format: 'iife',
    outdir: '/',
    define: { 'process.env.NODE_ENV': '"production"' },
  })
  const [script, style = ''] = ['.js', '.css'].map((end) => outputFiles.find(({ path }) => path.endsWith(end))?.text)
  return `<!doctype html><style>${style}</style><body><script>${script!.replaceAll('</script', '<\\/script')}</script>`
}

/** Serves one page per editor; `content()` returns its content. */
export async function serveEditors(): Promise<Site> {
  const bundles = [
    ['/codemirror', codemirror, 'codemirror', '6.0.2'],
    ['/codemirror5', codemirror5, 'codemirror', '5.65.20'],
    ['/prosemirror', prosemirror, 'prosemirror-example-setup', '1.2.3'],
    ['/lexical', lexical, '@lexical/rich-text', '0.52.0'],
    ['/quill', quill, 'quill', '2.0.3'],
    ['/tiptap', tiptap, '@tiptap/starter-kit', '3.34.0'],
    ['/slate', slate, 'slate-react', '0.146.1'],
  ] as const
  const [built, monacoFolder, xtermFolder] = await Promise.all([
    Promise.all(bundles.map(async ([path, module, name, version]) => [path, await bundled(module, name, version)])),
    packageFolder('monaco-editor', '0.57.0'),
    packageFolder('@xterm/xterm', '6.0.0'),
  ])
  const types: Record<string, string> = { js: 'text/javascript', css: 'text/css', html: 'text/html' }
  const pages = { ...(Object.fromEntries(built) as Record<string, string>), '/monaco': monaco, '/xterm': xterm }
  return serveSite(
    new Proxy({} as Parameters<typeof serveSite>[0], {
      get: (_, path: string) => {
        if (path in pages) return pages[path as keyof typeof pages]
        const file = path.startsWith('/vs/')
          ? new URL(`min${path}`, monacoFolder)
          : new URL(`${path.endsWith('.css') ? 'css' : 'lib'}${path}`, xtermFolder)
        return (_request: unknown, response: import('node:http').ServerResponse) => {
          response.setHeader('content-type', types[path.split('.').at(-1)!] ?? 'application/octet-stream')
          readFile(file).then(
            (bytes) => response.end(bytes),
            () => response.writeHead(404).end(),
          )
        }
      },
    }),
  )
}
