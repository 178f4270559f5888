// SPDX-License-Identifier: Apache-2.0
/** Rules by operator family: they convert calls of Relay text. */
package io.kiln.frontend.relay.rule;
