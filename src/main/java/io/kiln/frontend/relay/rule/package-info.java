// SPDX-License-Identifier: Apache-2.0
/** Rules by operator family: what a call of Relay text becomes. */
package io.kiln.frontend.relay.rule;
