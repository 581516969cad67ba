// SPDX-License-Identifier: Apache-2.0

package profilefile

import (
	"errors"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/importer"
)

// added adds a message that was decoded without an error: the methods of other messages panic.
func added[M any](all *[]M, message M, err error) error {
	if err == nil {
		*all = append(*all, message)
	}
	return err
}

// lose counts damaged messages. The end of a file is damaged if its collector was killed, and it
// may append to that end after a restart.
func (c *Content) lose(messages, damaged int) error {
	if damaged == 0 {
		return nil
	}
	if messages == 0 {
		return errIncomplete
	}
	c.Losses = append(c.Losses, importer.Loss{What: "messages that are damaged or incomplete", Count: damaged})
	return nil
}

var errIncomplete = errors.New("its first message is damaged or incomplete; if a rotation of the file exporter split it, concatenate the files")

// loseSamples counts the samples of profiles that have no data.
func (c *Content) loseSamples() {
	lost := 0
	for _, message := range c.Profiles {
		for _, resource := range message.ResourceProfiles().All() {
			for _, scope := range resource.ScopeProfiles().All() {
				for _, profile := range scope.Profiles().All() {
					for _, s := range profile.Samples().All() {
						if s.Values().Len() == 0 && s.TimestampsUnixNano().Len() == 0 {
							lost++
						}
					}
				}
			}
		}
	}
	if lost > 0 {
		c.Losses = append(c.Losses, importer.Loss{What: "samples without a value or a time", Count: lost})
	}
}
