/** Characters of symbol fonts, which have no code in Unicode order. */

/** Characters of the font Symbol from 0x20; a space where it has those of ASCII or none. */
const greek =
  '  ∀ ∃  ∋  ∗  −                  ≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ ∴ ⊥ ‾αβχδεφγηιϕκλμνοπθρστυϖωξψζ   ∼' +
  ' '.repeat(34) +
  'ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…⏐⎯↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊〈®©™∑⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪ 〉∫⌠⎮⌡⎞⎟⎠⎤⎥⎦⎫⎬⎭'

/** Returns characters by code, from the first one. */
const from = (code: number, characters: string): (readonly [number, string])[] =>
  characters.split(' ').map((one, at) => [code + at, one])

const fonts: ReadonlyMap<string, ReadonlyMap<number, string>> = new Map([
  ['symbol', new Map([...greek].flatMap((one, at) => (one === ' ' ? [] : [[at + 0x20, one] as const])))],
  [
    'wingdings',
    new Map([
      ...from(
        0x21,
        '🖉 ✂ ✁ 👓 🕭 🕮 🕯 ☎ ✆ 🖂 🖃 📪 📫 📬 📭 📁 📂 📄 🗏 🗐 🗄 ⌛ 🖮 🖰 🖲 🖳 🖴 🖫 🖬 ✇ ✍ 🖎 ✌ 👌 👍 👎 ☜ ☞ ☝ ☟ 🖐 ☺ 😐 ☹ 💣 ☠ 🏳 🏱 ✈ ☼ 💧 ❄ 🕆 ✞ 🕈 ✠ ✡ ☪ ☯ ॐ ☸ ♈ ♉ ♊ ♋ ♌ ♍ ♎ ♏ ♐ ♑ ♒ ♓ 🙰 🙵 ● 🔾 ■ □ 🞐 ❑ ❒ ⬧ ⧫ ◆ ❖ ⬥ ⌧ ⮹ ⌘ 🏵 🏶 🙶 🙷',
      ),
      ...from(
        0x80,
        '⓪ ① ② ③ ④ ⑤ ⑥ ⑦ ⑧ ⑨ ⑩ ⓿ ❶ ❷ ❸ ❹ ❺ ❻ ❼ ❽ ❾ ❿ 🙢 🙠 🙡 🙣 🙞 🙜 🙝 🙟 · • · ⭘ 🞆 🞈 🞊 🞋 🔿 ▪ ◻ 🟂 🟆 ★ 🟋 🟏 🟓 🟑 ⯐ ⌖ ⯎ ⯏ ⯑ ✪ ✰ 🕐 🕑 🕒 🕓 🕔 🕕 🕖 🕗 🕘 🕙 🕚 🕛 ⮰ ⮱ ⮲ ⮳ ⮴ ⮵ ⮶ ⮷ 🙪 🙫 🙕 🙔 🙗 🙖 🙐 🙑 🙒 🙓 ⌫ ⌦ ⮘ ➢ ⮙ ⮛ ⮈ ⮊ ⮉ ⮋ ← → ↑ ↓ ↖ ↗ ↙ ↘ 🡸 ➔ 🡹 🡻 🡼 🡽 🡿 🡾 ⇦ ⇨ ⇧ ⇩ ⬄ ⇳ ⬀ ⬁ ⬃ ⬂ 🢬 🢭 ✗ ✓ ☒ ☑',
      ),
    ]),
  ],
  [
    'wingdings 2',
    new Map([
      ...from(0x4f, '✗ ✓'),
      ...from(0x52, '☑ ☒ ☒'),
      ...from(0x69, '⓪ ① ② ③ ④ ⑤ ⑥ ⑦ ⑧ ⑨ ⑩ ⓿ ❶ ❷ ❸ ❹ ❺ ❻ ❼ ❽ ❾ ❿'),
      ...from(0xa3, '☐'),
    ]),
  ],
  ['wingdings 3', new Map([...from(0x21, '← → ↑ ↓'), ...from(0x70, '▲ ▼ △ ▽ ◀ ▶ ◁ ▷ ◣ ◢ ◤ ◥ ◀ ▶ ▲')])],
  ['webdings', new Map([...from(0x61, '✔'), ...from(0x67, '■'), ...from(0x6e, '●'), ...from(0x72, '✖')])],
])

/** Returns the characters that a font shows for a text; those of other fonts and unknown symbols stay. */
export function symbolsOf(text: string, font: string): string {
  const symbols = fonts.get(font.trim().toLowerCase())
  return symbols ? Array.from(text, (one) => symbolIn(symbols, one)).join('') : text
}

/** Symbols have the code of their letter, or one of 0xF000 to 0xF0FF. */
function symbolIn(symbols: ReadonlyMap<number, string>, shown: string): string {
  const code = shown.codePointAt(0)!
  if (code > 0xff && (code < 0xf000 || code > 0xf0ff)) return shown
  const at = code & 0xff
  const symbol = symbols.get(at)
  return symbol ?? (symbols === fonts.get('symbol') && at >= 0x20 && at < 0x7f ? String.fromCodePoint(at) : shown)
}
