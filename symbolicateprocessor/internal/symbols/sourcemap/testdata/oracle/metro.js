// Looks up the functions of all mappings of a map with Metro's own library, the package metro-symbolicate of npm.
// In: the path of a map. Out: JSON, [[line, column, function], ...] from 0, null = none.
const fs = require("fs");
const { SourceMapConsumer } = require("source-map");
const { default: Metadata } = require("metro-symbolicate/private/SourceMetadataMapConsumer");

const map = JSON.parse(fs.readFileSync(process.argv[2], "utf8"));
const metadata = new Metadata(map, source => source);
const places = [];
new SourceMapConsumer(map).eachMapping(m => {
  if (m.source) places.push([m.generatedLine - 1, m.generatedColumn, metadata.functionNameFor({ line: m.originalLine, column: m.originalColumn, source: m.source })]);
});
console.log(JSON.stringify(places));
