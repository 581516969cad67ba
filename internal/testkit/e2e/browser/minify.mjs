// node minify.mjs <bundler> <entry> <folder>
//
// Writes app.js and app.js.map as builds for production do, each bundler with its default settings. "plain" is not minified.
import { readFile, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { minify } from 'terser';
import webpack from 'webpack';

const [bundler, entry, folder] = process.argv.slice(2);
const outfile = resolve(folder, 'app.js');
const esbuild = (settings) => build({ entryPoints: [entry], bundle: true, outfile, logLevel: 'warning', ...settings });
const bundlers = {
  plain: () => esbuild({}),
  esbuild: () => esbuild({ minify: true, sourcemap: true }),
  async terser() {
    await esbuild({ sourcemap: true });
    const [code, content] = [await readFile(outfile, 'utf8'), await readFile(outfile + '.map', 'utf8')];
    const small = await minify({ 'app.js': code }, { toplevel: true, sourceMap: { content, url: 'app.js.map' } });
    await Promise.all([writeFile(outfile, small.code), writeFile(outfile + '.map', small.map)]);
  },
  async webpack() {
    const stats = await promisify(webpack)({
      mode: 'production', devtool: 'source-map', performance: { hints: false },
      entry: resolve(entry), output: { path: resolve(folder), filename: 'app.js' },
    });
    if (stats.hasErrors()) throw new Error(stats.toString());
  },
};
await bundlers[bundler]();
