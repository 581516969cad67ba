// SPDX-License-Identifier: Apache-2.0

// Package mcptools offers the viewer's data to clients of the Model Context Protocol. Each tool is
// a request of the viewer's JSON API: a tool has the same selection, limits and result as the page.
//
//	server.go    the endpoint
//	tools.go     the tools: arguments, requests, parts of the responses
//	request.go   requests to the API without a network
package mcptools
