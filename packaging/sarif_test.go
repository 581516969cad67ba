// SPDX-License-Identifier: Apache-2.0

package packaging

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestSARIF checks the findings of the tool envelope against the schema of SARIF 2.1.0, for
// services that display them.
func TestSARIF(t *testing.T) {
	schema, tool := sarifSchema(t), filepath.Join(t.TempDir(), "envelope")
	run(t, "go", "-C", "..", "build", "-o", tool, "./cmd/envelope")
	for results, arguments := range map[int][]string{
		0: {"check", "../testdata/otlp/profiles.json"},
		1: {"lint", "--strict", "../testdata/cases/rule-duration/in.envelope"},
		2: {"lint", "../testdata/cases/hostile-bad-between-good/in.envelope"},
	} {
		output, _ := exec.Command(tool, append(arguments, "--format", "sarif")...).Output() // findings are failures
		log, err := jsonschema.UnmarshalJSON(bytes.NewReader(output))
		require.NoError(t, err, "%s", output)
		assert.NoError(t, schema.Validate(log), "%s", output)
		assert.Equal(t, results, bytes.Count(output, []byte(`"ruleId"`)), "%s", output)
	}
}

// sarifLibrary contains the schema of OASIS, as a text in backquotes.
const sarifLibrary = "github.com/owenrumney/go-sarif/v3@v3.3.1"

func sarifSchema(t *testing.T) *jsonschema.Schema {
	source, err := os.ReadFile(filepath.Join(moduleDir(t, sarifLibrary), "pkg", "report", "v210", "sarif", "schema.go"))
	require.NoError(t, err)
	text, err := jsonschema.UnmarshalJSON(strings.NewReader(strings.Split(string(source), "`")[1]))
	require.NoError(t, err)
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	require.NoError(t, compiler.AddResource("sarif.json", text))
	schema, err := compiler.Compile("sarif.json")
	require.NoError(t, err)
	return schema
}
