// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strconv"
)

// mutation is a change of one file: text in place of the bytes from from to to.
type mutation struct {
	pkg, file string
	line      int
	from, to  int
	text      string
	what      string
}

// operators are the replacements of binary operators.
var operators = map[token.Token][]token.Token{
	token.LSS: {token.LEQ, token.GEQ}, token.LEQ: {token.LSS, token.GTR}, token.GTR: {token.GEQ, token.LEQ}, token.GEQ: {token.GTR, token.LSS},
	token.EQL: {token.NEQ}, token.NEQ: {token.EQL}, token.LAND: {token.LOR}, token.LOR: {token.LAND},
	token.ADD: {token.SUB}, token.SUB: {token.ADD}, token.MUL: {token.QUO}, token.QUO: {token.MUL}, token.REM: {token.MUL},
	token.SHL: {token.SHR}, token.SHR: {token.SHL}, token.AND: {token.OR}, token.OR: {token.AND},
}

// finder collects the mutations of one file.
type finder struct {
	pkg, name string
	text      []byte
	file      *token.File
	found     []mutation
}

func mutationsIn(pkg, name string) []mutation {
	text, err := os.ReadFile(name)
	check(err)
	files := token.NewFileSet()
	tree, err := parser.ParseFile(files, name, text, parser.ParseComments|parser.SkipObjectResolution)
	check(err)
	if ast.IsGenerated(tree) {
		return nil
	}
	f := &finder{pkg, name, text, files.File(tree.Pos()), nil}
	var functions []*ast.FuncType // around the node, the innermost last
	ast.PreorderStack(tree, nil, func(n ast.Node, stack []ast.Node) bool {
		functions = functions[:0]
		for _, outer := range stack {
			switch outer := outer.(type) {
			case *ast.FuncDecl:
				functions = append(functions, outer.Type)
			case *ast.FuncLit:
				functions = append(functions, outer.Type)
			}
		}
		f.visit(n, functions)
		return true
	})
	return f.found
}

func (f *finder) visit(n ast.Node, functions []*ast.FuncType) {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		at := f.file.Offset(n.OpPos)
		for _, other := range operators[n.Op] {
			f.add(n, at, at+len(n.Op.String()), other.String())
		}
	case *ast.UnaryExpr:
		if n.Op == token.NOT {
			f.replace(n, n.X, "")
		}
	case *ast.IfStmt:
		f.add(n.Cond, f.file.Offset(n.Cond.Pos()), f.file.Offset(n.Cond.End()), "!("+f.source(n.Cond)+")")
	case *ast.IncDecStmt:
		at, other := f.file.Offset(n.TokPos), "--"
		if n.Tok == token.DEC {
			other = "++"
		}
		f.add(n, at, at+2, other)
	case *ast.BranchStmt:
		if other := map[token.Token]string{token.BREAK: "continue", token.CONTINUE: "break"}[n.Tok]; other != "" && n.Label == nil {
			f.replace(n, nil, other)
		}
	case *ast.BasicLit:
		if number, err := strconv.ParseInt(n.Value, 0, 64); err == nil && n.Kind == token.INT {
			f.replace(n, nil, fmt.Sprint(number+1))
			if number > 0 {
				f.replace(n, nil, fmt.Sprint(number-1))
			}
		}
	case *ast.ExprStmt:
		if call, is := n.X.(*ast.CallExpr); is && !isLog(call) {
			f.replace(n, nil, "")
		}
	case *ast.AssignStmt:
		if n.Tok != token.DEFINE && !isBlank(n.Lhs[0]) {
			f.replace(n, nil, "")
		}
	case *ast.ReturnStmt:
		f.zero(n, functions[len(functions)-1])
	}
}

// zero returns the zero value in place of each result.
func (f *finder) zero(n *ast.ReturnStmt, function *ast.FuncType) {
	if function.Results == nil {
		return
	}
	var types []ast.Expr
	for _, field := range function.Results.List {
		for range max(1, len(field.Names)) {
			types = append(types, field.Type)
		}
	}
	for i, result := range n.Results {
		if len(types) != len(n.Results) || isZero(result) {
			continue
		}
		f.replace(result, nil, "*new("+f.source(types[i])+")")
	}
}

// isLog reports whether a call writes a log or panics: tests do not check logs, and panics are for
// impossible cases.
func isLog(call *ast.CallExpr) bool {
	switch function := call.Fun.(type) {
	case *ast.Ident:
		return function.Name == "panic"
	case *ast.SelectorExpr:
		switch on := function.X.(type) {
		case *ast.SelectorExpr:
			return on.Sel.Name == "logger"
		case *ast.Ident:
			return on.Name == "logger"
		}
	}
	return false
}

func isBlank(e ast.Expr) bool {
	name, is := e.(*ast.Ident)
	return is && name.Name == "_"
}

func isZero(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name == "nil" || e.Name == "false"
	case *ast.BasicLit:
		return e.Value == "0" || e.Value == `""`
	case *ast.CompositeLit:
		return len(e.Elts) == 0
	}
	return false
}

// replace replaces a node by text, or by one of its own parts if there is one.
func (f *finder) replace(n, part ast.Node, text string) {
	if part != nil {
		text = f.source(part)
	}
	f.add(n, f.file.Offset(n.Pos()), f.file.Offset(n.End()), text)
}

func (f *finder) add(n ast.Node, from, to int, text string) {
	what := fmt.Sprintf("%.60q: %.40q for %.60q", f.source(n), text, f.text[from:to])
	f.found = append(f.found, mutation{f.pkg, f.name, f.file.Line(f.file.Pos(from)), from, to, text, what})
}

func (f *finder) source(n ast.Node) string {
	return string(f.text[f.file.Offset(n.Pos()):f.file.Offset(n.End())])
}
