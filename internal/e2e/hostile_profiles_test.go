// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"strconv"
	"strings"
)

const million = 1_000_000

// Payloads that are hostile to a decoder, or to what is made of them. Those that are valid by Sentry's rules are kept, all of
// them: the limit is the 50 MiB of a payload, the memory follows from it.
var profileAttacks = []attack{
	{name: "a million stacks for one sample", status: 200, observations: 1, memory: memoryLarge,
		request: func() request { return chunk{stacks: times(million, `[0]`)}.request() }},
	{name: "a million stacks, all different, for one sample", status: 200, observations: 1, memory: memoryLarge,
		request: func() request {
			return chunk{frames: thousandFrames(), stacks: list(million, differentStack)}.request()
		}},
	{name: "a million threads with one sample each", status: 200, observations: million, memory: memoryLarge,
		request: func() request {
			return chunk{samples: list(million, numbered(`{"timestamp":1,"thread_id":`, `,"stack_id":0}`))}.request()
		}},
	{name: "two profiles with a million threads each in one envelope", status: 200, observations: 2 * million, memory: 2 * memoryLarge,
		request: func() request {
			threads := chunk{samples: list(million, numbered(`{"timestamp":1,"thread_id":`, `,"stack_id":0}`))}
			r := threads.request()
			r.body = append(r.body, "{\"type\":\"profile_chunk\"}\n"+threads.payload()+"\n"...)
			return r
		}},
	{name: "a million thread names without samples", status: 200, observations: 1, memory: memoryLarge,
		request: func() request {
			return chunk{threads: list(million, func(b []byte, i int) []byte {
				return numbered(`:{"name":"thread `, `"}`)(numbered(`"`, `"`)(b, i), i)
			})}.request()
		}},
	{name: "a million and one frames", status: 200, reason: "too_many_frames", memory: memoryLarge,
		request: func() request { return chunk{frames: list(million+1, differentFrame)}.request() }},
	{name: "half a million stacks with one sample each, and one frame of 4 MB", status: 200, observations: 500_000, memory: memoryLarge,
		request: func() request {
			return chunk{
				frames:  thousandFrames() + `,{"function":"` + strings.Repeat("f", 4<<20) + `"}`,
				stacks:  list(500_000, func(b []byte, i int) []byte { return pair(b, `[1000,`, i) }),
				samples: list(500_000, numbered(`{"timestamp":1,"thread_id":1,"stack_id":`, `}`)),
			}.request()
		}},
	{name: "a million samples with one stack", status: 200, observations: million, memory: memoryLarge,
		request: func() request {
			return chunk{samples: list(million, numbered(`{"timestamp":`, `,"thread_id":1,"stack_id":0}`))}.request()
		}},
	{name: "a stack of twenty million frames", status: 200, observations: 1, memory: memoryLarge,
		request: func() request { return chunk{stacks: "[" + times(20*million, `0`) + "]"}.request() }},
	{name: "a thousand stacks of twenty thousand frames", status: 200, observations: 1000, memory: memoryLarge,
		request: func() request {
			deep := times(20_000, `0`)
			return chunk{
				frames: thousandFrames(),
				stacks: list(1000, func(b []byte, i int) []byte { return fmt.Appendf(b, `[%d,%s]`, i, deep) }),
				samples: list(1000, func(b []byte, i int) []byte {
					return fmt.Appendf(b, `{"timestamp":%d,"thread_id":1,"stack_id":%d}`, i, i)
				}),
			}.request()
		}},
	{name: "nesting of 1000 levels", status: 200, reason: "json_too_deep", memory: memorySmall,
		request: func() request { return chunk{more: `"x":` + nested(1000) + `,`}.request() }},
	{name: "nesting of ten million levels", status: 200, reason: "json_too_deep", memory: memorySmall,
		request: func() request { return chunk{more: `"x":` + nested(10*million) + `,`}.request() }},
	{name: "a frame with 1000 levels", status: 200, reason: "json_too_deep", memory: memorySmall,
		request: func() request { return chunk{frames: `{"function":` + nested(1000) + `}`}.request() }},
	{name: "payload of 51 MiB", status: 413, reason: "profiling_exceed_size_limit", memory: memorySmall,
		request: func() request { return chunk{frames: `{"function":"` + strings.Repeat("f", 51<<20) + `"}`}.request() }},
	{name: "text that is not UTF-8", status: 200, observations: 1, memory: memorySmall,
		request: func() request {
			return chunk{frames: "{\"function\":\"\xff\xfe\xc0\xaf\",\"module\":\"\xed\xa0\x80\",\"filename\":\"\\ud800\"}",
				threads: "\"1\":{\"name\":\"\xf0\x28\"}"}.request()
		}},
	{name: "time 1e999999999", status: 200, reason: "sample_time_out_of_range", observations: 1, memory: memorySmall,
		request: func() request {
			return chunk{samples: `{"timestamp":1e999999999,"thread_id":1,"stack_id":0},{"timestamp":1,"thread_id":1,"stack_id":0}`}.request()
		}},
	{name: "time 1e-999999999", status: 200, observations: 1, memory: memorySmall,
		request: func() request {
			return chunk{samples: `{"timestamp":1e-999999999,"thread_id":1,"stack_id":0}`}.request()
		}},
	{name: "negative time", status: 200, reason: "sample_time_out_of_range", memory: memorySmall,
		request: func() request { return chunk{samples: `{"timestamp":-1,"thread_id":1,"stack_id":0}`}.request() }},
	{name: "times with a million digits", status: 200, observations: 40, memory: memorySmall,
		request: func() request {
			digits := strings.Repeat("1", million)
			return chunk{samples: list(40, func(b []byte, _ int) []byte {
				return fmt.Appendf(b, `{"timestamp":1.%s,"thread_id":1,"stack_id":0}`, digits)
			})}.request()
		}},
	{name: "stack -1", status: 200, reason: "profiling_malformed_samples", memory: memorySmall,
		request: func() request { return chunk{samples: `{"timestamp":1,"thread_id":1,"stack_id":-1}`}.request() }},
	{name: "stack 1e999999999", status: 200, reason: "profiling_malformed_samples", memory: memorySmall,
		request: func() request {
			return chunk{samples: `{"timestamp":1,"thread_id":1,"stack_id":1e999999999}`}.request()
		}},
	{name: "stack 2^31-1", status: 200, reason: "profiling_malformed_samples", memory: memorySmall,
		request: func() request {
			return chunk{samples: `{"timestamp":1,"thread_id":1,"stack_id":2147483647}`}.request()
		}},
	{name: "frame 2^31-1", status: 200, reason: "profiling_malformed_stacks", memory: memorySmall,
		request: func() request { return chunk{stacks: `[2147483647]`}.request() }},
	{name: "V1 with overflowing times", status: 200, observations: 2, reason: "sample_time_out_of_range", memory: memorySmall,
		request: func() request {
			payload := strings.Replace(profileV1(newID()), `"samples":[`,
				`"samples":[{"elapsed_since_start_ns":"18446744073709551615","thread_id":"0","stack_id":0},`, 1)
			return envelopeOf("profile", payload)
		}},
	{name: "V1 without a start, with a transaction of 48 MB", status: 200, observations: 2, memory: memoryLarge,
		request: func() request {
			payload := strings.Replace(profileV1(newID()), `"timestamp":`, `"no_timestamp":`, 1)
			r := envelopeOf("profile", payload)
			r.body = append(r.body, "{\"type\":\"transaction\"}\n{\"spans\":["+times(16*million, `{}`)+"],\"start_timestamp\":1700000000.5}\n"...)
			return r
		}},
	{name: "truncated payload", status: 200, reason: "profiling_invalid_json", memory: memorySmall,
		request: func() request { return envelopeOf("profile_chunk", chunk{}.payload()[:300]) }},
	{name: "a hundred thousand members named profile", status: 200, observations: 1, memory: memorySmall,
		request: func() request { return chunk{more: times(100_000, `"profile":{}`) + ","}.request() }},
	{name: "a measurement with a million values", status: 200, observations: 1, memory: memoryLarge,
		request: func() request {
			return chunk{more: `"measurements":{"cpu":{"unit":"percent","values":[` +
				times(million, `{"timestamp":1.5,"value":0.5}`) + `]}},`}.request()
		}},
	{name: "a million measurements", status: 200, reason: "too_many_measurements", memory: memorySmall,
		request: func() request {
			return chunk{more: `"measurements":{` + list(million, numbered(`"m`, `":{"unit":"ns","values":[]}`)) + "},"}.request()
		}},
	{name: "four hundred thousand images", status: 200, reason: "too_many_images", memory: memorySmall,
		request: func() request { return chunk{more: `"debug_meta":{"images":[` + images(400_000) + "]},"}.request() }},
	{name: "twenty thousand images, and a frame in the last", status: 200, observations: 1, memory: memorySmall,
		request: func() request {
			return chunk{frames: `{"instruction_addr":"0x4e1f8"}`, more: `"debug_meta":{"images":[` + images(20_000) + "]},"}.request()
		}},
}

// Lists of the smallest elements there are, as many as fit: whatever is kept for each is far larger than itself.
var smallestAttacks = []attack{
	{name: "frames {}", status: 200, observations: 1, memory: memoryLarge,
		request: func() request { return chunk{frames: times(16*million, `{}`)}.request() }},
	{name: "stacks []", status: 200, observations: 1, memory: memoryLarge,
		request: func() request { return chunk{stacks: times(16*million, `[]`)}.request() }},
	{name: "samples {}", status: 200, reason: "profiling_invalid_json", memory: memoryLarge,
		request: func() request { return chunk{samples: times(16*million, `{}`)}.request() }},
	{name: "threads {}", status: 200, observations: 1, memory: memoryLarge,
		request: func() request {
			return chunk{threads: list(4*million, func(b []byte, i int) []byte {
				return append(strconv.AppendInt(append(b, '"'), int64(i), 36), `":{}`...)
			})}.request()
		}},
	{name: "images {}", status: 200, observations: 1, memory: memoryLarge,
		request: func() request {
			return chunk{more: `"debug_meta":{"images":[` + times(16*million, `{}`) + `]},`}.request()
		}},
	{name: "images of one letter", status: 200, reason: "too_many_images", memory: memorySmall,
		request: func() request {
			return chunk{more: `"debug_meta":{"images":[` + times(4*million, `{"id":"a"}`) + `]},`}.request()
		}},
	{name: "images 0", status: 200, observations: 1, memory: memoryLarge,
		request: func() request {
			return chunk{more: `"debug_meta":{"images":[` + times(24*million, `0`) + `]},`}.request()
		}},
	{name: "values {} of a measurement", status: 200, observations: 1, memory: memoryLarge,
		request: func() request {
			return chunk{more: `"measurements":{"m":{"unit":"ns","values":[` + times(16*million, `{}`) + `]}},`}.request()
		}},
	{name: "values 0 of a measurement", status: 200, observations: 1, memory: memoryLarge,
		request: func() request {
			return chunk{more: `"measurements":{"m":{"unit":"ns","values":[` + times(3*million, `{"value":0}`) + `]}},`}.request()
		}},
	{name: "transactions {} of a V1 profile", status: 200, observations: 2, memory: memoryLarge,
		request: func() request {
			payload := strings.Replace(profileV1(newID()), `"transaction":`, `"transactions":[`+times(16*million, `{}`)+`],"transaction":`, 1)
			return envelopeOf("profile", payload)
		}},
	{name: "frames 0", status: 200, reason: "profiling_malformed_stacks", memory: memoryLarge,
		request: func() request { return chunk{frames: times(24*million, `0`)}.request() }},
}

// images are n images of 16 bytes, one behind the other.
func images(n int) string {
	return list(n, func(b []byte, i int) []byte {
		return fmt.Appendf(b, `{"type":"macho","image_addr":"0x%x0","image_size":16,"debug_id":"%032x","code_file":"f"}`, i, i)
	})
}

func thousandFrames() string { return list(1000, differentFrame) }

func differentFrame(b []byte, i int) []byte { return numbered(`{"lineno":`, `}`)(b, i+1) }

// differentStack is one of a million, over a thousand frames.
func differentStack(b []byte, i int) []byte { return pair(b, `[`, i) }

func pair(b []byte, before string, i int) []byte {
	return numbered(`,`, `]`)(numbered(before, ``)(b, i/1000), i%1000)
}

func nested(depth int) string { return strings.Repeat("[", depth) + strings.Repeat("]", depth) }
