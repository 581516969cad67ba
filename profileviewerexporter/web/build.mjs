// Builds the page into ../assets: our sources bundled, speedscope as its authors build it, the licenses of both, and a stamp by
// which a Go test tells whether the assets are of these sources. The same sources give the same bytes.
import { createHash } from 'node:crypto'
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const web = dirname(fileURLToPath(import.meta.url))
const assets = join(web, '..', 'assets')
const modules = join(web, 'node_modules')

rmSync(assets, { recursive: true, force: true })
mkdirSync(assets)

const bundle = await build({
  entryPoints: { page: join(web, 'src/main.tsx') },
  outdir: assets,
  bundle: true,
  minify: true,
  format: 'esm',
  target: 'es2022',
  legalComments: 'none', // licenses.txt
  charset: 'utf8',
  metafile: true,
})
for (const file of ['index.html', 'icon.svg']) cpSync(join(web, 'src', file), join(assets, file))
copySpeedscope()
writeFileSync(join(assets, 'licenses.txt'), licenses())
writeFileSync(join(assets, 'stamp'), `sources ${digest(web)}\nassets ${digest(assets)}\n`)

// copySpeedscope takes what a local profile needs: not the example, not the reader of Java recordings.
function copySpeedscope() {
  const release = join(modules, 'speedscope/dist/release')
  const unwanted = /^(perf-vertx.*|.*\.wasm|release\.txt|file-format-schema\.json)$/
  for (const file of readdirSync(release)) {
    if (!unwanted.test(file)) cpSync(join(release, file), join(assets, 'speedscope', file))
  }
}

function licenses() {
  const inputs = Object.keys(bundle.metafile.inputs).map((file) => /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1])
  const names = [...new Set([...inputs, 'speedscope'].filter(Boolean))].sort()
  return names.map((name) => {
    const { version, license } = JSON.parse(readFileSync(join(modules, name, 'package.json'), 'utf8'))
    const file = readdirSync(join(modules, name)).find((f) => /^licen[cs]e/i.test(f))
    return `${name} ${version} (${license})\n\n${readFileSync(join(modules, name, file), 'utf8').trim()}\n`
  }).join('\n' + '-'.repeat(80) + '\n\n')
}

// digest is the SHA-256 of a line per file: its digest, and its path. assets_test.go has the same.
function digest(folder) {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .filter((file) => !file.startsWith('node_modules/') && file !== 'stamp')
    .sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
  const sha = (data) => createHash('sha256').update(data).digest('hex')
  return sha(files.map((file) => `${sha(readFileSync(join(folder, file)))} ${file}\n`).join(''))
}
