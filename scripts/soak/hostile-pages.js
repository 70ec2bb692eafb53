// Pages that keep everything busy that a browser shares between its pages. Each goes on until it is closed.

const script = (code) => `<!doctype html><title>Hostile</title><body><script>${code}</script>`
const often = (code) => script(`const go = () => { ${code}; setTimeout(go) }; go()`)

/** HTML by what it floods. */
export const hostilePages = {
  console: script('for (;;) console.log("x".repeat(1000))'),
  'console-objects': often('for (let i = 0; i < 1000; i++) console.log({ list: Array(100).fill({ a: [1, 2, 3] }) })'),
  loop: script('for (;;);'),
  errors: often('for (let i = 0; i < 100; i++) setTimeout(() => { throw new Error("x".repeat(1000)) })'),
  rejections: often('for (let i = 0; i < 100; i++) Promise.reject(new Error("x".repeat(1000)))'),
  nodes: often('for (let i = 0; i < 1000; i++) document.body.append(document.createElement("p"), "text")'),
  attributes: often('for (let i = 0; i < 1000; i++) document.body.setAttribute("data-" + (i % 50), Math.random())'),
  titles: often('for (let i = 0; i < 100; i++) document.title = Math.random()'),
  history: often('for (let i = 0; i < 50; i++) history.pushState({}, "", "?" + Math.random())'),
  hash: often('location.hash = Math.random()'),
  messages: script('onmessage = () => { for (let i = 0; i < 2; i++) postMessage("x".repeat(1000)) }; postMessage(1)'),
  workers: often('new Worker(URL.createObjectURL(new Blob(["for (;;);"])))'),
  frames: often('document.body.append(Object.assign(document.createElement("iframe"), { srcdoc: "<p>frame" }))'),
  requests: often('for (let i = 0; i < 50; i++) fetch("/page/" + i + "?" + Math.random()).catch(() => {})'),
  sockets: often('for (let i = 0; i < 10; i++) new WebSocket("ws://" + location.host)'),
  alerts: often('alert("x".repeat(1000))'),
  popups: often('open("about:blank")'),
  prints: often('print()'),
  permissions: often('Notification.requestPermission(); navigator.geolocation.getCurrentPosition(() => {}, () => {})'),
  downloads: often(
    'const link = document.createElement("a"); link.href = URL.createObjectURL(new Blob(["x".repeat(1e6)])); link.download = "a.txt"; link.click()',
  ),
  webgl: often(
    'const gl = document.createElement("canvas").getContext("webgl"); if (gl) for (let i = 0; i < 1000; i++) gl.clear(16384)',
  ),
  canvas: often(
    'const canvas = Object.assign(document.createElement("canvas"), { width: 4000, height: 4000 }); canvas.getContext("2d").fillRect(0, 0, 4000, 4000); canvas.toDataURL()',
  ),
  fonts: often(
    'for (let i = 0; i < 100; i++) document.fonts.add(new FontFace("f" + i, "url(/font?" + Math.random() + ")"))',
  ),
  storage: often('try { localStorage[Math.random()] = "x".repeat(100000) } catch {}'),
  memory: script(
    'const all = []; const go = () => { all.push(new Uint8Array(1e7).fill(1)); setTimeout(go, 10) }; go()',
  ),
}
