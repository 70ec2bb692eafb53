/** Pages with the editors that people meet most, built from their packages. */
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { packageFolder } from './packages.ts'
import { serveSite, type Site } from './site.ts'

const codemirror = `import { basicSetup, EditorView } from 'codemirror'
const view = new EditorView({ doc: 'const one = 1', extensions: basicSetup, parent: document.body })
window.content = () => view.state.doc.toString()`

const prosemirror = `import { EditorState } from 'prosemirror-state'
import { Schema } from 'prosemirror-model'
import { EditorView } from 'prosemirror-view'
import { exampleSetup } from 'prosemirror-example-setup'
const text = { toDOM: () => ['p', 0], parseDOM: [{ tag: 'p' }], content: 'text*', group: 'block' }
const schema = new Schema({ nodes: { doc: { content: 'block+' }, paragraph: text, text: {} }, marks: {} })
const doc = schema.node('doc', null, [schema.node('paragraph', null, [schema.text('Hello')])])
const state = EditorState.create({ doc, plugins: exampleSetup({ schema, menuBar: false }) })
const view = new EditorView(document.body, { state })
window.content = () => view.state.doc.textBetween(0, view.state.doc.content.size, '\\n')`

const lexical = `import { $createParagraphNode, $createTextNode, $getRoot, createEditor } from 'lexical'
import { registerRichText } from '@lexical/rich-text'
const host = document.createElement('div')
host.contentEditable = 'true'
host.id = 'editor'
document.body.append(host)
const editor = createEditor({ onError: (error) => { throw error } })
editor.setRootElement(host)
registerRichText(editor)
editor.update(() => $getRoot().append($createParagraphNode().append($createTextNode('Hello'))))
window.content = () => editor.getEditorState().read(() => $getRoot().getTextContent())`

const monaco = `<!doctype html><div id=editor style="height:300px;width:600px"></div>
<script src=/vs/loader.js></script><script>
require.config({ paths: { vs: '/vs' } })
require(['vs/editor/editor.main'], () => {
  const options = { value: 'one', language: 'plaintext', autoClosingBrackets: 'never', quickSuggestions: false, wordBasedSuggestions: 'off' }
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
  const { outputFiles } = await build({ stdin: { contents, resolveDir }, bundle: true, write: false, format: 'iife' })
  return `<!doctype html><body><script>${outputFiles[0]!.text.replaceAll('</script', '<\\/script')}</script>`
}

/** Serves one page per editor; `content()` returns its content. */
export async function serveEditors(): Promise<Site> {
  const [codemirrorPage, prosemirrorPage, lexicalPage, monacoFolder, xtermFolder] = await Promise.all([
    bundled(codemirror, 'codemirror', '6.0.2'),
    bundled(prosemirror, 'prosemirror-example-setup', '1.2.3'),
    bundled(lexical, '@lexical/rich-text', '0.52.0'),
    packageFolder('monaco-editor', '0.57.0'),
    packageFolder('@xterm/xterm', '6.0.0'),
  ])
  const types: Record<string, string> = { js: 'text/javascript', css: 'text/css', html: 'text/html' }
  const pages = { '/codemirror': codemirrorPage, '/prosemirror': prosemirrorPage, '/lexical': lexicalPage, '/monaco': monaco, '/xterm': xterm } // prettier-ignore
  return serveSite(
    new Proxy({} as Parameters<typeof serveSite>[0], {
      get: (_, path: string) => {
        if (path in pages) return pages[path as keyof typeof pages]
        const file = path.startsWith('/vs/') ? new URL(`min${path}`, monacoFolder) : new URL(`${path.endsWith('.css') ? 'css' : 'lib'}${path}`, xtermFolder) // prettier-ignore
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
