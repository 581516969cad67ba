// SPDX-License-Identifier: Apache-2.0

package profiledialectextension

import (
	"context"
	"reflect"
	"strings"

	"go.opentelemetry.io/collector/extension/extensionmiddleware"
	"google.golang.org/grpc"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
)

var (
	_ extensionmiddleware.GRPCServer = (*translator)(nil)
	_ extensionmiddleware.GRPCClient = (*translator)(nil)
)

// GetGRPCServerOptions implements extensionmiddleware.GRPCServer.
func (t *translator) GetGRPCServerOptions(context.Context) ([]grpc.ServerOption, error) {
	return []grpc.ServerOption{grpc.ForceServerCodecV2(newCodec(t))}, nil
}

// ServerCodec returns the codec for an extension that has to install its own: otlp_limit.
func (t *translator) ServerCodec() encoding.CodecV2 { return newCodec(t) }

// GetGRPCClientOptions implements extensionmiddleware.GRPCClient.
func (t *translator) GetGRPCClientOptions(context.Context) ([]grpc.DialOption, error) {
	if !t.encodes() {
		return nil, nil
	}
	return []grpc.DialOption{grpc.WithDefaultCallOptions(grpc.ForceCodecV2(newCodec(t)))}, nil
}

// codec is the collector's codec of protobuf messages, with other bytes for profiles.
type codec struct {
	encoding.CodecV2
	*translator
}

func newCodec(t *translator) codec { return codec{encoding.GetCodecV2("proto"), t} }

// Unmarshal decodes a message that a server receives, or the response to a client.
func (c codec) Unmarshal(data mem.BufferSlice, message any) error {
	return c.UnmarshalWithin(data, message, func(int) error { return nil })
}

// UnmarshalWithin is Unmarshal for an extension that limits memory: otlp_limit. reserve is called
// before memory is used for a translation and its result.
func (c codec) UnmarshalWithin(data mem.BufferSlice, message any, reserve func(bytes int) error) error {
	if !isRequest(message) {
		return c.CodecV2.Unmarshal(data, message)
	}
	current, err := c.decode(context.Background(), data.Materialize(), reserve)
	if err != nil {
		return err
	}
	return c.CodecV2.Unmarshal(mem.BufferSlice{mem.SliceBuffer(current)}, message)
}

// Marshal encodes a message that a client sends, or the response of a server.
func (c codec) Marshal(message any) (mem.BufferSlice, error) {
	data, err := c.CodecV2.Marshal(message)
	if err != nil || !isRequest(message) {
		return data, err
	}
	request := data.Materialize()
	data.Free()
	if request, err = c.encode(context.Background(), request); err != nil {
		return nil, err
	}
	return mem.BufferSlice{mem.SliceBuffer(request)}, nil
}

// isRequest reports whether a message has profiles. Its type is internal to the collector.
func isRequest(message any) bool {
	return strings.HasSuffix(reflect.TypeOf(message).String(), ".ExportProfilesServiceRequest")
}
