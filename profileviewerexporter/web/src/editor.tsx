import { useState } from 'preact/hooks'

// The editor is an address with {file}, {line} and {column}, in the storage of the browser.
const key = 'editor'

const editors: [name: string, template: string][] = [
  ['VS Code', 'vscode://file/{file}:{line}:{column}'],
  ['Cursor', 'cursor://file/{file}:{line}:{column}'],
  ['IntelliJ IDEA', 'idea://open?file={file}&line={line}&column={column}'],
  ['Zed', 'zed://file/{file}:{line}:{column}'],
  ['Sublime Text', 'subl://open?url=file://{file}&line={line}&column={column}'],
]

export const editorTemplate = (): string => localStorage.getItem(key) ?? ''

// editorURL returns the address that opens a file in the user's editor. Files come from received data: they are encoded, and only the
// user chooses the scheme.
export function editorURL(file: string | undefined, line = 1, column = 1): string | undefined {
  const template = editorTemplate()
  if (!template || !file || !isTemplate(template)) return undefined
  const path = encodeURI(file.replace(/^file:\/\//, '')).replace(/[?#&]/g, encodeURIComponent)
  return template.replaceAll('{file}', () => path).replaceAll('{line}', String(line)).replaceAll('{column}', String(column))
}

// isTemplate reports whether an address is of an application: not a script or a page.
export const isTemplate = (text: string): boolean =>
  /^[a-z][a-z0-9+.-]*:/i.test(text) && !/^(javascript|data|blob|vbscript|https?|file):/i.test(text) && text.includes('{file}')

// EditorLink opens a line in the editor, if the user has chosen one.
export function EditorLink({ file, line, column }: { file?: string; line?: number; column?: number }) {
  const url = editorURL(file, line, column)
  return url ? <a class="editor" href={url}>Open in editor</a> : null
}

// EditorSetting is the choice of the editor.
export function EditorSetting() {
  const [template, setTemplate] = useState(editorTemplate)
  const set = (text: string) => {
    setTemplate(text)
    if (text === '') localStorage.removeItem(key)
    else if (isTemplate(text)) localStorage.setItem(key, text)
  }
  return (
    <fieldset>
      <legend>Open in editor</legend>
      <label>Editor{' '}
        <select value={editors.find(([, t]) => t === template)?.[1] ?? ''} onChange={(e) => set(e.currentTarget.value)}>
          <option value="">{template === '' ? 'None' : 'Other'}</option>
          {editors.map(([name, t]) => <option key={name} value={t}>{name}</option>)}
        </select>
      </label>{' '}
      <label>Address{' '}
        <input type="text" value={template} placeholder="scheme://open?file={file}&line={line}" spellcheck={false} onInput={(e) => set(e.currentTarget.value)} />
      </label>
      {template !== '' && !isTemplate(template) && <p class="warn" role="status">The address needs the scheme of an application and {'{file}'}.</p>}
    </fieldset>
  )
}
