// SPDX-License-Identifier: Apache-2.0
/** Relay text and its parameters file become a function of the graph IR. */
package io.kiln.frontend.relay;
