/** Elements with the same role on pages of one template should all be kept, or all be dropped. */
import { expect, test } from 'vitest'
import { treeFromHtml } from '../../../src/engine/extract/html-tree.ts'
import { mainContent } from '../../../src/engine/extract/main-content/main-content.ts'
import { shippedModel } from '../../../src/engine/extract/main-content/model.ts'
import { attribute, type ElementNode, elementsOf } from '../../../src/engine/extract/tree.ts'
import { type Template, templates } from '../../support/page-templates.ts'

const model = await shippedModel()

/** Returns the number of elements per role. */
function rolesIn(root: ElementNode): Map<string, number> {
  const roles = new Map<string, number>()
  for (const element of elementsOf(root)) {
    const role = attribute(element, 'data-role')
    if (role !== '') roles.set(role, (roles.get(role) ?? 0) + 1)
  }
  return roles
}

/** Returns the number of elements, and of those that were treated like most elements of their role. */
function agreementOf(template: Template): { all: number; agreed: number } {
  const total = new Map<string, { all: number; kept: number }>()
  for (const html of template.pages(12)) {
    const { root } = treeFromHtml(html, 'https://site.example/')
    const kept = rolesIn(mainContent(root, { model }).root)
    for (const [role, count] of rolesIn(root)) {
      const sum = total.get(role) ?? { all: 0, kept: 0 }
      total.set(role, { all: sum.all + count, kept: sum.kept + (kept.get(role) ?? 0) })
    }
  }
  const counts = [...total.values()]
  return {
    all: counts.reduce((sum, { all }) => sum + all, 0),
    agreed: counts.reduce((sum, { all, kept }) => sum + Math.max(kept, all - kept), 0),
  }
}

test('98 % of the elements with the same role on pages of a template get the same decision', () => {
  const counts = templates.map(agreementOf)
  const all = counts.reduce((sum, count) => sum + count.all, 0)
  const agreed = counts.reduce((sum, count) => sum + count.agreed, 0)
  expect(templates).toHaveLength(40)
  expect(agreed / all).toBeGreaterThanOrEqual(0.98)
})
