// SPDX-License-Identifier: Apache-2.0
/** Reads Relay text and its parameters file into the graph IR. */
package io.kiln.frontend.relay;
