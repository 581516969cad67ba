// SPDX-License-Identifier: Apache-2.0

// Package firefox reads and writes the processed profiles of the Firefox Profiler
// (https://profiler.firefox.com): the files that it saves. It does not read Gecko profiles, which
// Firefox sends to the profiler.
//
// https://github.com/firefox-devtools/profiler/blob/main/docs-developer/processed-profile-format.md
// describes the format. [Writer] writes version 47, which newer versions of the profiler upgrade;
// [Read] reads all versions up to 70. It goes by the fields that are present, because writers other
// than the profiler state a version but use fields of others.
//
// A process is a resource. As in the profiler, samples weigh the number that the file states, else
// one each, whatever the time between them.
//
// Attributes, links, addresses and inlining are lost on writing; markers, counters, allocations,
// categories and addresses on reading.
package firefox
