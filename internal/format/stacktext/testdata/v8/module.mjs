import { pathToFileURL } from 'node:url';
import fs from 'node:fs';
export default function reserve() { throw new Error('module'); }
try { [1].forEach(() => reserve()); } catch (e) { fs.writeFileSync('module.txt', e.stack); }
