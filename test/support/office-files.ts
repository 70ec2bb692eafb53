/** Office documents made of their parts. */
import { strToU8, zipSync } from 'fflate'

type Files = Readonly<Record<string, string | Uint8Array>>

export const zipOf = (files: Files, level: 0 | 6 = 6): Uint8Array =>
  zipSync(
    Object.fromEntries(
      Object.entries(files).map(([name, content]) => [name, typeof content === 'string' ? strToU8(content) : content]),
    ),
    { level },
  )

const types = (kind: string) =>
  `<?xml version="1.0"?><Types><Override PartName="/x" ContentType="application/vnd.openxmlformats-officedocument.${kind}.main+xml"/></Types>`

const core = `<cp:coreProperties xmlns:dc="dc"><dc:title>A title</dc:title><dc:creator>Ada Rivers</dc:creator><dcterms:created>2026-03-01T08:00:00Z</dcterms:created></cp:coreProperties>`

export const relations = (entries: Readonly<Record<string, readonly [type: string, target: string, mode?: string]>>) =>
  `<Relationships>${Object.entries(entries)
    .map(
      ([id, [type, target, mode]]) =>
        `<Relationship Id="${id}" Type="http://x/${type}" Target="${target}"${mode ? ` TargetMode="${mode}"` : ''}/>`,
    )
    .join('')}</Relationships>`

export const docx = (body: string, more: Files = {}): Uint8Array =>
  zipOf({
    '[Content_Types].xml': types('wordprocessingml.document'),
    'docProps/core.xml': core,
    'word/document.xml': `<?xml version="1.0"?><w:document><w:body>${body}</w:body></w:document>`,
    'word/styles.xml':
      '<w:styles><w:style w:styleId="H1"><w:name w:val="heading 1"/></w:style><w:style w:styleId="T"><w:name w:val="Title"/></w:style></w:styles>',
    'word/numbering.xml':
      '<w:numbering><w:abstractNum w:abstractNumId="0"><w:lvl w:ilvl="0"><w:numFmt w:val="decimal"/></w:lvl><w:lvl w:ilvl="1"><w:numFmt w:val="bullet"/></w:lvl></w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num></w:numbering>',
    'word/_rels/document.xml.rels': relations({ r1: ['hyperlink', 'https://example.com/deltas', 'External'] }),
    ...more,
  })

/** A paragraph of Word; `properties` are its own. */
export const p = (text: string, properties = ''): string =>
  `<w:p><w:pPr>${properties}</w:pPr><w:r><w:t xml:space="preserve">${text}</w:t></w:r></w:p>`

export const xlsx = (sheet: string, more: Files = {}): Uint8Array =>
  zipOf({
    '[Content_Types].xml': types('spreadsheetml.sheet'),
    'xl/workbook.xml': '<workbook><sheets><sheet name="Rivers" sheetId="1" r:id="r1"/></sheets></workbook>',
    'xl/_rels/workbook.xml.rels': relations({
      r1: ['worksheet', 'worksheets/sheet1.xml'],
      r2: ['sharedStrings', 'sharedStrings.xml'],
      r3: ['styles', 'styles.xml'],
    }),
    'xl/sharedStrings.xml': '<sst><si><t>River</t></si><si><r><t>Len</t></r><r><t>gth</t></r></si></sst>',
    'xl/styles.xml': '<styleSheet><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs></styleSheet>',
    'xl/worksheets/sheet1.xml': `<worksheet><sheetData>${sheet}</sheetData></worksheet>`,
    ...more,
  })

export const pptx = (slide: string, more: Files = {}): Uint8Array =>
  zipOf({
    '[Content_Types].xml': types('presentationml.presentation'),
    'ppt/presentation.xml': '<p:presentation><p:sldIdLst><p:sldId id="256" r:id="r1"/></p:sldIdLst></p:presentation>',
    'ppt/_rels/presentation.xml.rels': relations({ r1: ['slide', 'slides/slide1.xml'] }),
    'ppt/slides/slide1.xml': `<p:sld><p:cSld><p:spTree>${slide}</p:spTree></p:cSld></p:sld>`,
    ...more,
  })

export const odt = (text: string, more: Files = {}): Uint8Array =>
  zipOf({
    mimetype: 'application/vnd.oasis.opendocument.text',
    'content.xml': `<office:document-content><office:automatic-styles><style:style style:name="B"><style:text-properties fo:font-weight="bold"/></style:style><text:list-style style:name="N"><text:list-level-style-number/></text:list-style></office:automatic-styles><office:body><office:text>${text}</office:text></office:body></office:document-content>`,
    'meta.xml': '<office:document-meta><office:meta><dc:title>A title</dc:title></office:meta></office:document-meta>',
    ...more,
  })

export const epub = (chapters: readonly string[], more: Files = {}): Uint8Array =>
  zipOf({
    mimetype: 'application/epub+zip',
    'META-INF/container.xml': '<container><rootfiles><rootfile full-path="OEBPS/book.opf"/></rootfiles></container>',
    'OEBPS/book.opf': `<package><metadata><dc:title>A book</dc:title><dc:creator>Ada Rivers</dc:creator><dc:language>en</dc:language></metadata><manifest>${chapters.map((_, at) => `<item id="c${at}" href="c%20${at}.xhtml"/>`).join('')}</manifest><spine>${chapters.map((_, at) => `<itemref idref="c${at}"/>`).join('')}</spine></package>`,
    ...Object.fromEntries(
      chapters.map((chapter, at) => [
        `OEBPS/c ${at}.xhtml`,
        `<html><head><title>x</title></head><body>${chapter}</body></html>`,
      ]),
    ),
    ...more,
  })

export const rtf = (body: string): Uint8Array =>
  strToU8(
    String.raw`{\rtf1\ansi\ansicpg1252{\fonttbl{\f0 Arial;}}{\info{\title A title}{\author Ada Rivers}}` + body + '}',
    true,
  )
