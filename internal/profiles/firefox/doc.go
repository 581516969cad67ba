// SPDX-License-Identifier: Apache-2.0

// Package firefox reads and writes the processed profiles of the Firefox Profiler
// (https://profiler.firefox.com): the files that it saves. It does not read Gecko profiles, which
// Firefox sends to the profiler.
//
// https://github.com/firefox-devtools/profiler/blob/main/docs-developer/processed-profile-format.md
// describes the format. [Writer] writes version 47, which newer versions of the profiler upgrade;
// [Read] reads it and newer ones, whose threads share tables.
//
// Attributes, links, addresses and inlining are lost on writing; markers, counters, categories and
// screenshots on reading.
package firefox
