// SPDX-License-Identifier: Apache-2.0

// Package configcheckconverter checks a configuration as a whole: extensions that components refer
// to, addresses on which two components listen, and misspelled names of components. The collector
// checks each component by itself, so that "validate" accepts most of these configurations, and the
// collector does not start.
//
// It is a converter of the collector, because only converters see the whole configuration. It
// changes nothing.
package configcheckconverter
