// SPDX-License-Identifier: Apache-2.0

package semconv

// OTel: attributes that determine the operation of a span, with deprecated names.
const (
	DBSystemName                 = "db.system.name"
	DBSystem                     = "db.system"
	DBQueryText                  = "db.query.text"
	DBQuerySummary               = "db.query.summary"
	DBStatement                  = "db.statement"
	DBOperationName              = "db.operation.name"
	DBOperation                  = "db.operation"
	DBCollectionName             = "db.collection.name"
	DBSQLTable                   = "db.sql.table"
	DBNamespace                  = "db.namespace"
	DBName                       = "db.name"
	FaaSTrigger                  = "faas.trigger"
	GenAIProviderName            = "gen_ai.provider.name"
	GenAISystem                  = "gen_ai.system"
	GenAIOperationName           = "gen_ai.operation.name"
	GraphQLOperationName         = "graphql.operation.name"
	GraphQLOperationType         = "graphql.operation.type"
	MessagingSystemName          = "messaging.system.name"
	MessagingSystem              = "messaging.system"
	MessagingOperationName       = "messaging.operation.name"
	MessagingOperation           = "messaging.operation"
	MessagingDestinationTemplate = "messaging.destination.template"
	MessagingDestinationName     = "messaging.destination.name"
	MessagingDestination         = "messaging.destination"
	RPCSystemName                = "rpc.system.name"
	RPCSystem                    = "rpc.system"
	RPCService                   = "rpc.service"
	RPCMethod                    = "rpc.method"
	RPCStatusCode                = "rpc.status_code"
	RPCResponseStatusCode        = "rpc.response.status_code"
	RPCGRPCStatusCode            = "rpc.grpc.status_code"
)
