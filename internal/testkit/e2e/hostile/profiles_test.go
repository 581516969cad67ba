// SPDX-License-Identifier: Apache-2.0

package hostile

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
)

const million = 1_000_000

// Payloads that are hostile to the decoder or to the translation. Payloads that are valid by
// Sentry's rules are kept completely: they are limited by the maximum payload size of 50 MiB, which
// determines the memory.
var profileAttacks = []attack{
	{name: "a million stacks and one sample", status: 200, observations: 1, memory: memoryLarge,
		request: func() harness.Request { return harness.Chunk{Stacks: times(million, `[0]`)}.Request() }},
	{name: "a million different stacks and one sample", status: 200, observations: 1, memory: memoryLarge,
		request: func() harness.Request {
			return harness.Chunk{Frames: thousandFrames(), Stacks: harness.List(million, differentStack)}.Request()
		}},
	{name: "a million threads with one sample each", status: 413, reason: "too_much_memory", memory: memoryLarge,
		request: func() harness.Request {
			return harness.Chunk{Samples: harness.List(million, harness.Numbered(`{"timestamp":1,"thread_id":`, `,"stack_id":0}`))}.Request()
		}},
	{name: "two profiles in one envelope, each with a million threads", status: 413, reason: "too_much_memory", memory: 2 * memoryLarge,
		request: func() harness.Request {
			threads := harness.Chunk{Samples: harness.List(million, harness.Numbered(`{"timestamp":1,"thread_id":`, `,"stack_id":0}`))}
			r := threads.Request()
			r.Body = append(r.Body, "{\"type\":\"profile_chunk\"}\n"+threads.Payload()+"\n"...)
			return r
		}},
	{name: "a million thread names without samples", status: 200, observations: 1, memory: memoryLarge,
		request: func() harness.Request {
			return harness.Chunk{Threads: harness.List(million, func(b []byte, i int) []byte {
				return harness.Numbered(`:{"name":"thread `, `"}`)(harness.Numbered(`"`, `"`)(b, i), i)
			})}.Request()
		}},
	{name: "1,000,001 frames", status: 413, reason: "too_much_memory", memory: memoryLarge,
		request: func() harness.Request {
			return harness.Chunk{Frames: harness.List(million+1, differentFrame)}.Request()
		}},
	{name: "500,000 stacks with one sample each, and a shared frame of 4 MiB", status: 200, observations: 500_000, memory: memoryLarge,
		request: func() harness.Request {
			return harness.Chunk{
				Frames:  thousandFrames() + `,{"function":"` + strings.Repeat("f", 4<<20) + `"}`,
				Stacks:  harness.List(500_000, func(b []byte, i int) []byte { return pair(b, `[1000,`, i) }),
				Samples: harness.List(500_000, harness.Numbered(`{"timestamp":1,"thread_id":1,"stack_id":`, `}`)),
			}.Request()
		}},
	{name: "a million samples with one stack", status: 200, observations: million, memory: memoryLarge,
		request: func() harness.Request {
			return harness.Chunk{Samples: harness.List(million, harness.Numbered(`{"timestamp":`, `,"thread_id":1,"stack_id":0}`))}.Request()
		}},
	{name: "a stack of 20 million frames", status: 413, reason: "too_much_memory", memory: memoryLarge,
		request: func() harness.Request { return harness.Chunk{Stacks: "[" + times(20*million, `0`) + "]"}.Request() }},
	{name: "1,000 stacks of 20,000 frames each", status: 413, reason: "too_much_memory", memory: memoryLarge,
		request: func() harness.Request {
			deep := times(20_000, `0`)
			return harness.Chunk{
				Frames: thousandFrames(),
				Stacks: harness.List(1000, func(b []byte, i int) []byte { return fmt.Appendf(b, `[%d,%s]`, i, deep) }),
				Samples: harness.List(1000, func(b []byte, i int) []byte {
					return fmt.Appendf(b, `{"timestamp":%d,"thread_id":1,"stack_id":%d}`, i, i)
				}),
			}.Request()
		}},
	{name: "a profile nested 1,000 levels deep", status: 200, reason: "json_too_deep", memory: memorySmall,
		request: func() harness.Request { return harness.Chunk{More: `"x":` + nested(1000) + `,`}.Request() }},
	{name: "a profile nested 10 million levels deep", status: 200, reason: "json_too_deep", memory: memorySmall,
		request: func() harness.Request { return harness.Chunk{More: `"x":` + nested(10*million) + `,`}.Request() }},
	{name: "a frame nested 1,000 levels deep", status: 200, reason: "json_too_deep", memory: memorySmall,
		request: func() harness.Request { return harness.Chunk{Frames: `{"function":` + nested(1000) + `}`}.Request() }},
	{name: "a payload of 51 MiB", status: 413, reason: "profiling_exceed_size_limit", memory: memorySmall,
		request: func() harness.Request {
			return harness.Chunk{Frames: `{"function":"` + strings.Repeat("f", 51<<20) + `"}`}.Request()
		}},
	{name: "text that is not UTF-8", status: 200, observations: 1, memory: memorySmall,
		request: func() harness.Request {
			return harness.Chunk{Frames: "{\"function\":\"\xff\xfe\xc0\xaf\",\"module\":\"\xed\xa0\x80\",\"filename\":\"\\ud800\"}",
				Threads: "\"1\":{\"name\":\"\xf0\x28\"}"}.Request()
		}},
	{name: "a timestamp of 1e999999999", status: 200, reason: "sample_time_out_of_range", observations: 1, memory: memorySmall,
		request: func() harness.Request {
			return harness.Chunk{Samples: `{"timestamp":1e999999999,"thread_id":1,"stack_id":0},{"timestamp":1,"thread_id":1,"stack_id":0}`}.Request()
		}},
	{name: "a timestamp of 1e-999999999", status: 200, observations: 1, memory: memorySmall,
		request: func() harness.Request {
			return harness.Chunk{Samples: `{"timestamp":1e-999999999,"thread_id":1,"stack_id":0}`}.Request()
		}},
	{name: "a negative timestamp", status: 200, reason: "sample_time_out_of_range", memory: memorySmall,
		request: func() harness.Request {
			return harness.Chunk{Samples: `{"timestamp":-1,"thread_id":1,"stack_id":0}`}.Request()
		}},
	{name: "timestamps with a million digits", status: 200, observations: 40, memory: memorySmall,
		request: func() harness.Request {
			digits := strings.Repeat("1", million)
			return harness.Chunk{Samples: harness.List(40, func(b []byte, _ int) []byte {
				return fmt.Appendf(b, `{"timestamp":1.%s,"thread_id":1,"stack_id":0}`, digits)
			})}.Request()
		}},
	{name: "a stack index of -1", status: 200, reason: "profiling_malformed_samples", memory: memorySmall,
		request: func() harness.Request {
			return harness.Chunk{Samples: `{"timestamp":1,"thread_id":1,"stack_id":-1}`}.Request()
		}},
	{name: "a stack index of 1e999999999", status: 200, reason: "profiling_malformed_samples", memory: memorySmall,
		request: func() harness.Request {
			return harness.Chunk{Samples: `{"timestamp":1,"thread_id":1,"stack_id":1e999999999}`}.Request()
		}},
	{name: "a stack index of 2^31-1", status: 200, reason: "profiling_malformed_samples", memory: memorySmall,
		request: func() harness.Request {
			return harness.Chunk{Samples: `{"timestamp":1,"thread_id":1,"stack_id":2147483647}`}.Request()
		}},
	{name: "a frame index of 2^31-1", status: 200, reason: "profiling_malformed_stacks", memory: memorySmall,
		request: func() harness.Request { return harness.Chunk{Stacks: `[2147483647]`}.Request() }},
	{name: "a V1 profile with overflowing times", status: 200, observations: 2, reason: "sample_time_out_of_range", memory: memorySmall,
		request: func() harness.Request {
			payload := strings.Replace(harness.ProfileV1(harness.NewID()), `"samples":[`,
				`"samples":[{"elapsed_since_start_ns":"18446744073709551615","thread_id":"0","stack_id":0},`, 1)
			return harness.ItemRequest("profile", payload)
		}},
	{name: "a V1 profile without a start time, and a transaction of 48 MB", status: 200, observations: 2, memory: memoryLarge,
		request: func() harness.Request {
			payload := strings.Replace(harness.ProfileV1(harness.NewID()), `"timestamp":`, `"no_timestamp":`, 1)
			r := harness.ItemRequest("profile", payload)
			r.Body = append(r.Body, "{\"type\":\"transaction\"}\n{\"spans\":["+times(16*million, `{}`)+"],\"start_timestamp\":1700000000.5}\n"...)
			return r
		}},
	{name: "a truncated payload", status: 200, reason: "profiling_invalid_json", memory: memorySmall,
		request: func() harness.Request { return harness.ItemRequest("profile_chunk", harness.Chunk{}.Payload()[:300]) }},
	{name: "100,000 keys named profile", status: 200, observations: 1, memory: memorySmall,
		request: func() harness.Request { return harness.Chunk{More: times(100_000, `"profile":{}`) + ","}.Request() }},
	{name: "a measurement with a million values", status: 413, reason: "too_much_memory", memory: memoryLarge,
		request: func() harness.Request {
			return harness.Chunk{More: `"measurements":{"cpu":{"unit":"percent","values":[` +
				times(million, `{"timestamp":1.5,"value":0.5}`) + `]}},`}.Request()
		}},
	{name: "a million measurements", status: 200, reason: "too_many_measurements", memory: memorySmall,
		request: func() harness.Request {
			return harness.Chunk{More: `"measurements":{` + harness.List(million, harness.Numbered(`"m`, `":{"unit":"ns","values":[]}`)) + "},"}.Request()
		}},
	{name: "400,000 images", status: 200, reason: "too_many_images", memory: memorySmall,
		request: func() harness.Request {
			return harness.Chunk{More: `"debug_meta":{"images":[` + images(400_000) + "]},"}.Request()
		}},
	{name: "20,000 images, and a frame with an address in the last one", status: 200, observations: 1, memory: memorySmall,
		request: func() harness.Request {
			return harness.Chunk{Frames: `{"instruction_addr":"0x4e1f8"}`, More: `"debug_meta":{"images":[` + images(20_000) + "]},"}.Request()
		}},
}

// Lists with the maximum number of the smallest possible elements, which take far more memory in
// the collector than in the payload.
var smallestAttacks = []attack{
	{name: "16 million empty frames", status: 200, observations: 1, memory: memoryLarge,
		request: func() harness.Request { return harness.Chunk{Frames: times(16*million, `{}`)}.Request() }},
	{name: "16 million empty stacks", status: 413, reason: "too_much_memory", memory: memoryLarge,
		request: func() harness.Request { return harness.Chunk{Stacks: times(16*million, `[]`)}.Request() }},
	{name: "16 million empty samples", status: 200, reason: "profiling_invalid_json", memory: memoryLarge,
		request: func() harness.Request { return harness.Chunk{Samples: times(16*million, `{}`)}.Request() }},
	{name: "4 million empty threads", status: 200, observations: 1, memory: memoryLarge,
		request: func() harness.Request {
			return harness.Chunk{Threads: harness.List(4*million, func(b []byte, i int) []byte {
				return append(strconv.AppendInt(append(b, '"'), int64(i), 36), `":{}`...)
			})}.Request()
		}},
	{name: "16 million empty images", status: 200, observations: 1, memory: memoryLarge,
		request: func() harness.Request {
			return harness.Chunk{More: `"debug_meta":{"images":[` + times(16*million, `{}`) + `]},`}.Request()
		}},
	{name: "4 million images with a one-letter ID", status: 200, reason: "too_many_images", memory: memorySmall,
		request: func() harness.Request {
			return harness.Chunk{More: `"debug_meta":{"images":[` + times(4*million, `{"id":"a"}`) + `]},`}.Request()
		}},
	{name: "24 million images written as the number 0", status: 200, observations: 1, memory: memoryLarge,
		request: func() harness.Request {
			return harness.Chunk{More: `"debug_meta":{"images":[` + times(24*million, `0`) + `]},`}.Request()
		}},
	{name: "a measurement with 16 million empty values", status: 200, observations: 1, memory: memoryLarge,
		request: func() harness.Request {
			return harness.Chunk{More: `"measurements":{"m":{"unit":"ns","values":[` + times(16*million, `{}`) + `]}},`}.Request()
		}},
	{name: "a measurement with 3 million values without a timestamp", status: 200, observations: 1, memory: memoryLarge,
		request: func() harness.Request {
			return harness.Chunk{More: `"measurements":{"m":{"unit":"ns","values":[` + times(3*million, `{"value":0}`) + `]}},`}.Request()
		}},
	{name: "a V1 profile with 16 million empty transactions", status: 200, observations: 2, memory: memoryLarge,
		request: func() harness.Request {
			payload := strings.Replace(harness.ProfileV1(harness.NewID()), `"transaction":`, `"transactions":[`+times(16*million, `{}`)+`],"transaction":`, 1)
			return harness.ItemRequest("profile", payload)
		}},
	{name: "24 million frames written as the number 0", status: 200, reason: "profiling_malformed_stacks", memory: memoryLarge,
		request: func() harness.Request { return harness.Chunk{Frames: times(24*million, `0`)}.Request() }},
}

// images returns n consecutive images of 16 bytes.
func images(n int) string {
	return harness.List(n, func(b []byte, i int) []byte {
		return fmt.Appendf(b, `{"type":"macho","image_addr":"0x%x0","image_size":16,"debug_id":"%032x","code_file":"f"}`, i, i)
	})
}

func thousandFrames() string { return harness.List(1000, differentFrame) }

func differentFrame(b []byte, i int) []byte { return harness.Numbered(`{"lineno":`, `}`)(b, i+1) }

// differentStack appends one of a million stacks over a thousand frames.
func differentStack(b []byte, i int) []byte { return pair(b, `[`, i) }

func pair(b []byte, before string, i int) []byte {
	return harness.Numbered(`,`, `]`)(harness.Numbered(before, ``)(b, i/1000), i%1000)
}

func nested(depth int) string { return strings.Repeat("[", depth) + strings.Repeat("]", depth) }
