// SPDX-License-Identifier: Apache-2.0

// Package firefox reads and writes the processed profiles of the Firefox Profiler
// (https://profiler.firefox.com): the files that it saves. It does not read Gecko profiles, which
// Firefox sends to the profiler.
//
// https://github.com/firefox-devtools/profiler/blob/main/docs-developer/processed-profile-format.md
// describes the format. [Writer] writes version 47, which newer versions of the profiler upgrade;
// [Read] reads all versions up to 70. It relies on the fields that are present, because writers
// other than the profiler state one version but use fields of others.
//
// A process is a resource. As in the profiler, the weight of a sample is the number in the file,
// otherwise one, regardless of the time between samples.
//
// Attributes, links, addresses and inlining are lost on writing; markers, counters, allocations,
// categories and addresses on reading.
package firefox
