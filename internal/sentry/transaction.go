package sentry

import "encoding/json"

// TransactionTimes gives start and end of the transaction in the payload of a "transaction" item: what a V1 profile without
// an anchor of its own is placed by. Unset where the payload does not tell.
func TransactionTimes(payload []byte) (start, end Timestamp) {
	var transaction struct {
		Start Timestamp `json:"start_timestamp"`
		End   Timestamp `json:"timestamp"`
	}
	if json.Unmarshal(payload, &transaction) != nil {
		return Timestamp{}, Timestamp{}
	}
	return transaction.Start, transaction.End
}
