// SPDX-License-Identifier: Apache-2.0

package semconv

// OTel: attributes that determine the operation of a span, with deprecated names.
const (
	DBSystemName          = "db.system.name"
	DBSystem              = "db.system"
	DBQueryText           = "db.query.text"
	DBStatement           = "db.statement"
	FaaSTrigger           = "faas.trigger"
	GenAIProviderName     = "gen_ai.provider.name"
	GenAISystem           = "gen_ai.system"
	GenAIOperationName    = "gen_ai.operation.name"
	GraphQLOperationName  = "graphql.operation.name"
	GraphQLOperationType  = "graphql.operation.type"
	MessagingSystemName   = "messaging.system.name"
	MessagingSystem       = "messaging.system"
	RPCSystemName         = "rpc.system.name"
	RPCSystem             = "rpc.system"
	RPCService            = "rpc.service"
	RPCStatusCode         = "rpc.status_code"
	RPCResponseStatusCode = "rpc.response.status_code"
	RPCGRPCStatusCode     = "rpc.grpc.status_code"
)
